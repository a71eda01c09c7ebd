package telegram

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
)

// downloadName stands for the transfer in Error.Method: it is no method of the
// Bot API, and getFile, which is, has its own errors.
const downloadName = "download"

// maxRefusal bounds what is read of an answer that is no file.
const maxRefusal = 64 << 10

// Download writes the file behind filePath, the file_path of a getFile result, to
// w and returns how many bytes w took. Such a path is good for at least an hour;
// api.telegram.org gives one for files up to 20 MB only (Bot API docs, getFile).
//
// The file is streamed, never held in memory. SendTimeout bounds the wait for the
// first byte and every later silence, not the whole, as a large file on a slow
// line is no fault. After an error, w holds a part at best: start again with an
// empty one.
//
// The error is always an [*Error], with "download" as its Method; [Classify] it
// as "getFile". A 404 says that the path is unknown or too old, so ask getFile
// again. ErrInvalidCall is the cause when the path cannot be one of a file on the
// server, above all the absolute path that a server run with --local returns.
func (c *Client) Download(ctx context.Context, filePath string, w io.Writer) (int64, error) {
	path, err := escapeFilePath(filePath)
	if err != nil {
		return 0, &Error{Method: downloadName, Err: err}
	}
	ctx, quiet := newSilenceLimit(ctx, c.timeout)
	defer quiet.stop()
	t := transfer{client: c, quiet: quiet}
	n, e := t.run(ctx, path, w)
	if e != nil {
		return n, e
	}
	return n, nil
}

// transfer is one download under way.
type transfer struct {
	client *Client
	quiet  *silenceLimit
	sent   written
	status int
}

func (t *transfer) run(ctx context.Context, path string, w io.Writer) (int64, *Error) {
	res, err := t.ask(ctx, path)
	if err != nil {
		return 0, t.fault(err)
	}
	defer res.Body.Close()
	t.status = res.StatusCode
	body := &heardReader{res.Body, t.quiet}
	if res.StatusCode != http.StatusOK {
		return 0, t.refusal(res, body)
	}
	// Without a length or chunks the end of the connection ends the file, and a
	// cut one would look whole (RFC 9112, section 6.3).
	if res.ContentLength < 0 && len(res.TransferEncoding) == 0 {
		return 0, t.fault(fmt.Errorf("%w: a file without its length", ErrNotAnswer))
	}
	n, err := io.Copy(w, body)
	if err != nil {
		return n, t.fault(fmt.Errorf("copy the file: %w", err))
	}
	return n, nil
}

// ask sends the request with the HTTP client of all calls, so that transport,
// proxy and the refusal of redirects are the same. A panic becomes an error, see
// roundTrip. Encoding is identity because a file is wanted byte by byte, and a
// Content-Length that counts those bytes.
func (t *transfer) ask(ctx context.Context, path string) (res *http.Response, err error) {
	defer func() {
		if value := recover(); value != nil {
			res, err = nil, panicError(value)
		}
	}()
	// net/http repeats a GET whose idle connection died, even when it had written
	// it. What was once written stays so; for a read the second request is no harm.
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaderField: func(string, []string) { t.sent.Store(true) },
	})
	address := t.client.root + "/file/bot" + t.client.token.Reveal() + "/" + path
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept-Encoding", "identity")
	return t.client.http.Do(req)
}

// refusal is an answer that is no file: what a call would make of it.
func (t *transfer) refusal(res *http.Response, body io.Reader) *Error {
	raw, err := io.ReadAll(io.LimitReader(body, maxRefusal))
	if err != nil {
		e := t.fault(err)
		e.RetryAfter = headerWait(res.Header)
		return e
	}
	if _, e := (answer{res.StatusCode, res.Header, raw}).result(downloadName, t.client.token); e != nil {
		return e
	}
	return t.fault(ErrNotAnswer) // a 2xx that is not 200, such as a part of the file
}

func (t *transfer) fault(err error) *Error {
	err = t.quiet.name(err)
	if timedOut(err) {
		t.client.http.CloseIdleConnections() // see post
	}
	written := t.sent.Load() || t.status != 0
	return &Error{Method: downloadName, Status: t.status, Written: written, Err: t.client.token.cause(err)}
}
