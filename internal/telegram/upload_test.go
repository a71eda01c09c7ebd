package telegram_test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegram"
)

// seen is what a server got out of a multipart request.
type seen struct {
	fields map[string]string
	files  map[string]string // part name to "file name: content"
	length int64
}

// uploads returns a client and the box its server puts each request into.
func uploads(t *testing.T) (*telegram.Client, *seen) {
	t.Helper()
	got := &seen{}
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		*got = seen{map[string]string{}, map[string]string{}, r.ContentLength}
		if err := r.ParseMultipartForm(1 << 20); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		for name, values := range r.MultipartForm.Value {
			got.fields[name] = values[0]
		}
		for name, headers := range r.MultipartForm.File {
			file, _ := headers[0].Open()
			content, _ := io.ReadAll(file)
			got.files[name] = headers[0].Filename + ": " + string(content)
		}
		_, _ = io.WriteString(w, `{"ok":true,"result":true}`)
	})
	return client, got
}

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func object(t *testing.T, fields map[string]any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(fields)
	require.NoError(t, err)
	return raw
}

func TestAFileGoesAsAPartAndTheRestAsFields(t *testing.T) {
	t.Parallel()
	client, got := uploads(t)
	_, err := client.Call(t.Context(), "sendPhoto", object(t, map[string]any{
		"chat_id":              int64(-1001234567890123),
		"caption":              "a <b> & \"c\"\n@file",
		"photo":                map[string]any{"@file": writeFile(t, "cat.jpg", "JPEG")},
		"disable_notification": true,
		"reply_markup":         map[string]any{"inline_keyboard": []any{}},
		"message_thread_id":    nil,
	}))
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		"chat_id": "-1001234567890123", "caption": "a <b> & \"c\"\n@file", "disable_notification": "true",
		"reply_markup": `{"inline_keyboard":[]}`,
	}, got.fields)
	require.Equal(t, map[string]string{"photo": "cat.jpg: JPEG"}, got.files)
	require.Positive(t, got.length, "the size is announced")
}

func TestFilesInsideAnAlbumAreAttached(t *testing.T) {
	t.Parallel()
	client, got := uploads(t)
	a, b := writeFile(t, "a.jpg", "A"), writeFile(t, "b.jpg", "B")
	_, err := client.Call(t.Context(), "sendMediaGroup", object(t, map[string]any{
		"chat_id": 1,
		"media": []any{
			map[string]any{"type": "photo", "media": map[string]any{"@file": a}, "caption": "<1>", "n": json.Number("9007199254740993")},
			map[string]any{"type": "photo", "media": "file_id"},
			map[string]any{"type": "photo", "media": map[string]any{"@file": b}},
		},
	}))
	require.NoError(t, err)
	require.JSONEq(t, `[{"type":"photo","media":"attach://file0","caption":"<1>","n":9007199254740993},
		{"type":"photo","media":"file_id"},{"type":"photo","media":"attach://file1"}]`, got.fields["media"])
	require.Contains(t, got.fields["media"], "9007199254740993", "no float on the way")
	require.Contains(t, got.fields["media"], "<1>", "no HTML escapes on the way")
	require.Equal(t, map[string]string{"file0": "a.jpg: A", "file1": "b.jpg: B"}, got.files)
}

func TestTextNeverBecomesAFile(t *testing.T) {
	t.Parallel()
	path := writeFile(t, "secret.txt", "S")
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, `{"ok":true,"result":`+strconv.Quote(r.Header.Get("Content-Type")+string(body))+`}`)
	})
	for _, value := range []any{
		"@file", "@" + path, "attach://" + path, "file://" + path, `{"@file":"` + path + `"}`,
		[]any{"@file", path},
		`[{"type":"photo","media":{"@file":"` + path + `"}}]`,
	} {
		params := object(t, map[string]any{"photo": value})
		result, err := client.Call(t.Context(), "sendPhoto", params)
		require.NoError(t, err)
		require.Contains(t, string(result), "application/json")
	}
}

func TestAMissingFileIsNamedAndNothingIsSent(t *testing.T) {
	t.Parallel()
	client := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was made") })
	for name, params := range map[string]string{
		"top":    `{"photo":{"@file":"/no/such/cat.jpg"}}`,
		"nested": `{"media":[{"media":{"@file":"/no/such/cat.jpg"}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := client.Call(t.Context(), "sendPhoto", json.RawMessage(params))
			var file *telegram.FileError
			require.ErrorAs(t, err, &file)
			require.Equal(t, "/no/such/cat.jpg", file.Path)
			require.ErrorIs(t, err, fs.ErrNotExist)
			require.False(t, asError(t, err).Written)
			require.Equal(t, "telegram: sendPhoto: upload /no/such/cat.jpg: no such file or directory", err.Error())
			require.Equal(t, telegram.Rejected, telegram.Classify(err, "sendPhoto"))
		})
	}
	_, err := client.Call(t.Context(), "sendPhoto", object(t, map[string]any{"photo": map[string]any{"@file": t.TempDir()}}))
	require.ErrorContains(t, err, "not a regular file")
}

func TestAHalfRightFileReferenceIsRefused(t *testing.T) {
	t.Parallel()
	client := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was made") })
	for _, value := range []string{`{"@file":7}`, `{"@file":""}`, `{"@file":null}`, `{"@file":"a","name":"b"}`, `[{"x":{"@file":[]}}]`, `{"y":[{"@file":{}}]}`} {
		_, err := client.Call(t.Context(), "sendPhoto", json.RawMessage(`{"photo":`+value+`}`))
		require.ErrorIs(t, err, telegram.ErrInvalidCall, value)
	}
}

func TestAFileThatShrinksWhileItIsSentIsAFileError(t *testing.T) {
	t.Parallel()
	path := writeFile(t, "big", "")
	require.NoError(t, os.Truncate(path, 64<<20))
	client := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = r.Body.Read(make([]byte, 1))
		_ = os.Truncate(path, 10)
		_, _ = io.Copy(io.Discard, r.Body)
	})
	_, err := client.Call(t.Context(), "sendDocument", object(t, map[string]any{"document": map[string]any{"@file": path}}))
	require.Equal(t, telegram.Rejected, telegram.Classify(err, "sendDocument"), err)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestAFileThatGrowsWhileItIsSentGoesAsItWas(t *testing.T) {
	t.Parallel()
	const size = 32<<20 + 5
	path := writeFile(t, "log", "")
	require.NoError(t, os.Truncate(path, size))
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		parts, _ := r.MultipartReader()
		part, _ := parts.NextPart()
		_ = os.Truncate(path, 2*size)
		received, err := io.Copy(io.Discard, part)
		if err != nil || received != size {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = io.WriteString(w, `{"ok":true,"result":true}`)
	})
	_, err := client.Call(t.Context(), "sendDocument", object(t, map[string]any{"document": map[string]any{"@file": path}}))
	require.NoError(t, err)
}

// Not parallel: it measures the memory of the whole process.
func TestALargeFileIsStreamed(t *testing.T) { //nolint:paralleltest // other tests' allocations would count
	const size = 256 << 20
	path := writeFile(t, "large", "")
	require.NoError(t, os.Truncate(path, size))
	var received int64
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		received, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"ok":true,"result":true}`)
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := client.Call(t.Context(), "sendDocument", object(t, map[string]any{"document": map[string]any{"@file": path}}))
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Greater(t, received, int64(size))
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
}

func FuzzUploadParams(f *testing.F) {
	f.Add(`{"photo":{"@file":"/no/such/file"},"x":[{"@file":"b"}]}`)
	f.Add(`{"a":"b"}`)
	f.Add(`{"\u0040file":"a"}`)
	client, err := telegram.New(telegram.Options{Token: testToken(f), Transport: tripFunc(func(*http.Request) (*http.Response, error) {
		return nil, errors.New("no road")
	})})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, params string) {
		_, err := client.Call(t.Context(), "sendPhoto", json.RawMessage(params))
		require.False(t, asError(t, err).Written)
	})
}
