package telegram

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"

	"github.com/go-resty/resty/v2"
)

// FileError says that a file named in params could not be read. The call did not
// take effect: without its last byte a multipart request is not complete.
type FileError struct {
	Path string
	Err  error
}

// Error names the path and the reason.
func (e *FileError) Error() string { return "upload " + e.Path + ": " + e.Err.Error() }

// Unwrap returns the reason, such as fs.ErrNotExist.
func (e *FileError) Unwrap() error { return e.Err }

// upload is a multipart body that reads its files while it is sent. Its size is
// known beforehand, so the server can refuse a large one early.
type upload struct {
	contentType string
	size        int64
	parts       []part
}

// part is a piece of the body: bytes in memory, then a file if there is one.
type part struct {
	head []byte
	file *os.File
	path string
	size int64
}

// newUpload opens every file before anything is sent, so that a missing one
// costs nothing. The caller closes the upload.
func newUpload(f form) (*upload, error) {
	var head bytes.Buffer
	w := multipart.NewWriter(&head)
	up := &upload{contentType: w.FormDataContentType()}
	for _, plain := range f.fields {
		_ = w.WriteField(plain.name, plain.value) // a bytes.Buffer takes every write
	}
	for _, file := range f.files {
		_, _ = w.CreateFormFile(file.name, filepath.Base(file.value))
		if err := up.open(file.value, &head); err != nil {
			up.close()
			return nil, &FileError{Path: file.value, Err: reason(err)}
		}
	}
	_ = w.Close()
	up.add(part{head: head.Bytes()})
	return up, nil
}

// open adds the bytes gathered so far and the file behind them.
func (u *upload) open(path string, head *bytes.Buffer) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() { // opening a pipe would block, a device would never end
		return errors.New("not a regular file")
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	u.add(part{head: bytes.Clone(head.Bytes()), file: file, path: path, size: info.Size()})
	head.Reset()
	return nil
}

func (u *upload) add(p part) {
	u.parts = append(u.parts, p)
	u.size += int64(len(p.head)) + p.size
}

// reader starts the body from its beginning. Each reader has an offset of its
// own, so net/http may ask for a second one when the first connection was dead.
func (u *upload) reader() io.ReadCloser {
	var all []io.Reader
	for _, p := range u.parts {
		all = append(all, bytes.NewReader(p.head))
		if p.file != nil {
			all = append(all, &fileReader{part: p, left: p.size})
		}
	}
	return io.NopCloser(io.MultiReader(all...))
}

func (u *upload) close() {
	for _, p := range u.parts {
		if p.file != nil {
			_ = p.file.Close() // opened for reading: nothing can be lost
		}
	}
}

// fileReader reads exactly the size the file had when it was opened.
type fileReader struct {
	part
	left int64
}

// Read stops at that size, and a file that ends before it is a FileError: the
// server was promised more.
func (r *fileReader) Read(b []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n, err := r.file.ReadAt(b[:min(int64(len(b)), r.left)], r.size-r.left)
	r.left -= int64(n)
	switch {
	case n > 0:
		return n, nil
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF // it shrank
	}
	return 0, &FileError{Path: r.path, Err: reason(err)}
}

// reason drops the operation and path that os puts around a cause.
func reason(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}

type uploadKey struct{}

// attach hands the upload to attachUpload through the context, because resty's
// hook is given nothing else, and resty itself would read a body into memory.
func (b *body) attach(ctx context.Context) context.Context {
	if b.upload == nil {
		return ctx
	}
	return context.WithValue(ctx, uploadKey{}, b.upload)
}

func attachUpload(_ *resty.Client, r *http.Request) error {
	up, ok := r.Context().Value(uploadKey{}).(*upload)
	if !ok {
		return nil
	}
	r.ContentLength = up.size
	r.Body = up.reader()
	r.GetBody = func() (io.ReadCloser, error) { return up.reader(), nil }
	return nil
}
