package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
)

// Reader reads from Telegram. It refuses methods that change something: those a
// handler returns as calls, so that they survive a crash and are made once.
type Reader interface {
	// Read calls a get* method and returns its result. Params are those of a Call.
	Read(ctx context.Context, method string, params any) (json.RawMessage, error)
	// File writes the file behind a file_id of this bot to w, streamed. A file_id
	// lasts, but api.telegram.org hands out only files up to 20 MB (Bot API docs,
	// getFile). After an error w holds a part at best: a handler that runs again
	// must start with an empty one.
	File(ctx context.Context, fileID string, w io.Writer) error
}

// API is the Bot API: one request, no retry. Its errors are *telegram.Error.
type API interface {
	Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}

// Files is where the bytes behind a getFile result are. It is apart from API
// because sending, which needs that one, reads no file.
type Files interface {
	// Download streams the file to w and returns how many bytes w took. Its errors
	// are *telegram.Error.
	Download(ctx context.Context, filePath string, w io.Writer) (int64, error)
}

// NewReader returns a Reader over api, and over files for what getFile names.
func NewReader(api API, files Files) Reader { return reader{api, files} }

type reader struct {
	api   API
	files Files
}

func (r reader) Read(ctx context.Context, method string, params any) (json.RawMessage, error) {
	if !telegram.Lookup(method).Read {
		return nil, fmt.Errorf("read %s: not a get method: return it as a Call instead", method)
	}
	object, err := contract.Call{Method: method, Params: params}.Object()
	if err != nil {
		return nil, fmt.Errorf("read %s: params: %w", method, err)
	}
	return r.api.Call(ctx, method, object)
}

// File asks for a fresh path each time, as the last one may have expired.
func (r reader) File(ctx context.Context, fileID string, w io.Writer) error {
	result, err := r.Read(ctx, "getFile", map[string]string{"file_id": fileID})
	if err != nil {
		return fmt.Errorf("find file: %w", err)
	}
	var file struct {
		Path string `json:"file_path"`
	}
	if err := json.Unmarshal(result, &file); err != nil {
		return fmt.Errorf("find file: read result: %w", err)
	}
	if file.Path == "" {
		return errors.New("find file: Telegram named no path: the file cannot be downloaded now")
	}
	if _, err := r.files.Download(ctx, file.Path, w); err != nil {
		return fmt.Errorf("download file: %w", err)
	}
	return nil
}

type readerKey struct{}

func withReader(ctx context.Context, r Reader) context.Context {
	return context.WithValue(ctx, readerKey{}, r)
}

// ReaderFrom returns the reader of a handler's context. Outside a handler it
// returns one whose reads fail, so that a handler can be tested without it.
func ReaderFrom(ctx context.Context) Reader {
	if r, ok := ctx.Value(readerKey{}).(Reader); ok && r != nil {
		return r
	}
	return reader{noAPI{}, noAPI{}}
}

// errNoAPI is all that a reader outside a handler has to say.
var errNoAPI = errors.New("no Telegram here: this context is not a handler's")

type noAPI struct{}

func (noAPI) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, errNoAPI
}

func (noAPI) Download(context.Context, string, io.Writer) (int64, error) { return 0, errNoAPI }
