package activities_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
)

// withFile is a call that uploads what is at path.
func withFile(t *testing.T, path string) contract.SendInput {
	t.Helper()
	params, err := json.Marshal(map[string]any{"chat_id": 42, "caption": "secret", "document": map[string]string{"@file": path}})
	require.NoError(t, err)
	in := message()
	in.Deadline = time.Now().Add(time.Minute)
	in.Call.Method, in.Call.Params = "sendDocument", json.RawMessage(params)
	return in
}

func TestAFileThatCannotBeReadEndsItsCallAtOnceAndIsNamed(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	missing := filepath.Join(folder, `the "secret" one.pdf`)
	closed := filepath.Join(folder, "closed.pdf")
	require.NoError(t, os.WriteFile(closed, nil, 0))
	for name, c := range map[string]struct{ path, want string }{
		"missing":    {missing, `secret\" one.pdf" cannot be read: no such file or directory: put it back`},
		"a folder":   {folder, `" cannot be read: not a regular file: put it back`},
		"unreadable": {closed, `closed.pdf" cannot be read: permission denied: put it back`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.path == closed && os.Geteuid() == 0 {
				t.Skip("root reads every file")
			}
			w := newWorld(t)
			api, err := telegram.New(telegram.Options{BaseURL: "http://127.0.0.1:1", Token: token(t)})
			require.NoError(t, err)
			w.API = api
			_, err = w.attempt(t, 1, withFile(t, c.path))
			app := direct(t, err)
			require.Equal(t, contract.FailureRejected, app.Type())
			require.True(t, app.NonRetryable())
			require.Contains(t, detail(t, app).Error, c.want)
			require.Equal(t, 1, w.budget.cancelled, "nothing was sent")
			require.Zero(t, w.recorder.writes())
		})
	}
}

func TestAFileThatShrinksUnderWayEndsItsCallToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.api.script = []error{&telegram.Error{
		Method: "sendDocument", Written: true, Err: &telegram.FileError{Path: "/data/a.pdf", Err: io.ErrUnexpectedEOF},
	}}
	in := withFile(t, "/data/a.pdf")
	in.Call.Delivery = contract.AtMostOnce
	_, err := w.attempt(t, 1, in)
	require.Equal(t, contract.FailureRejected, direct(t, err).Type())
	require.Equal(t, `file "/data/a.pdf" cannot be read: unexpected EOF: put it back, on every machine that may be on duty, and make the call again`,
		detail(t, direct(t, err)).Error)
}
