package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWhoIsInterruptedWhileWritingHasWritten(t *testing.T) {
	t.Parallel()
	ctx, quit := context.WithCancel(t.Context())
	written := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is it told who hangs up
		quit()
		select {
		case <-r.Context().Done():
		case <-time.After(100 * time.Millisecond):
			written++
			_, _ = w.Write([]byte("{}"))
		}
	}))
	t.Cleanup(server.Close)
	people := newLoad(&bot{sim: &sim{url: server.URL}}, "people", 1000)
	require.ErrorIs(t, people.crowd(ctx, 1, 1000, time.Hour), context.Canceled)
	require.Len(t, people.sent, written)
	require.NotZero(t, written)
}
