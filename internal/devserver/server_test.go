package devserver_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/devserver"
)

// binary finds a real server or skips: building one takes minutes.
func binary(t *testing.T) string {
	t.Helper()
	path, err := devserver.Locate(devserver.FindOptions{Dir: filepath.Join("..", "..")})
	if err != nil {
		t.Skipf("needs a Temporal dev server (make bin/temporal): %v", err)
	}
	return path
}

func connect(t *testing.T, address string) client.Client {
	t.Helper()
	c, err := client.DialContext(t.Context(), client.Options{
		HostPort: address,
		Logger:   log.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func startWorkflow(ctx context.Context, c client.Client, id string, attributes temporal.SearchAttributes) error {
	_, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: id, TaskQueue: "nobody", TypedSearchAttributes: attributes,
	}, "Nothing")
	return err
}

// TestServerKeepsItsWorkThroughACrash runs one real server after the other on
// the same database: it is the only test that would notice a flag which the
// binary does not know, or a namespace that is announced too early.
func TestServerKeepsItsWorkThroughACrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	options := devserver.Options{
		Path:             binary(t),
		DBFile:           filepath.Join(dir, "data", "temporal.db"),
		LogFile:          filepath.Join(dir, "temporal.log"),
		SearchAttributes: []string{},
		Retention:        72 * time.Hour,
	}
	first, err := devserver.Start(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(first.Kill)
	require.Empty(t, first.UIURL())
	require.NoError(t, startWorkflow(t.Context(), connect(t, first.Addr()), "kept", temporal.SearchAttributes{}))
	first.Kill()
	require.NoError(t, <-first.Done(), "an end that was asked for is no error")

	// The database was created without the attributes; now they are asked for.
	options.SearchAttributes, options.Retention = nil, 0
	second, err := devserver.Start(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(second.Kill)
	usable(t, second, 7*24*time.Hour)

	process, err := os.FindProcess(second.Pid())
	require.NoError(t, err)
	require.NoError(t, process.Kill())
	require.ErrorIs(t, <-second.Done(), devserver.ErrExited)

	third, err := second.Restart(t.Context())
	require.NoError(t, err)
	require.Equal(t, second.Addr(), third.Addr())
	stopsInGoodOrder(t, third)
}

// stopsInGoodOrder restarts a running server, which stops it first, and then
// stops the new one twice.
func stopsInGoodOrder(t *testing.T, s *devserver.Server) {
	t.Helper()
	t.Cleanup(s.Kill)
	next, err := s.Restart(t.Context())
	require.NoError(t, err)
	t.Cleanup(next.Kill)
	require.NoError(t, <-s.Done(), "it was stopped, and is no error")
	began := time.Now()
	next.Stop()
	require.Less(t, time.Since(began), devserver.DefaultStopTimeout, "it stops when it is asked to")
	require.NoError(t, <-next.Done())
	next.Stop()
}

// usable proves what Start promises, on a server that holds the workflow "kept".
func usable(t *testing.T, s *devserver.Server, retention time.Duration) {
	t.Helper()
	c := connect(t, s.Addr())
	namespace, err := c.WorkflowService().DescribeNamespace(t.Context(),
		&workflowservice.DescribeNamespaceRequest{Namespace: "default"})
	require.NoError(t, err)
	require.Equal(t, retention, namespace.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration())

	_, err = c.DescribeWorkflow(t.Context(), "kept", "")
	require.NoError(t, err, "the crash lost nothing")

	chat := temporal.NewSearchAttributeKeyKeyword("TgChat").ValueSet("42")
	require.NoError(t, startWorkflow(t.Context(), c, "marked", temporal.NewSearchAttributes(chat)))
	require.Eventually(t, func() bool {
		count, err := c.CountWorkflow(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{
			Namespace: "default", Query: `TgChat = "42"`,
		})
		return err == nil && count.GetCount() == 1
	}, 10*time.Second, 50*time.Millisecond)
}

func TestUIAnswersWhereItSaysItDoes(t *testing.T) {
	t.Parallel()
	path := binary(t)
	var free *devserver.Server
	err := devserver.ErrPortInUse
	for errors.Is(err, devserver.ErrPortInUse) { // somebody was faster
		free, err = devserver.Start(t.Context(), devserver.Options{
			Path: path, LogFile: filepath.Join(t.TempDir(), "temporal.log"), UIPort: freePort(t),
		})
	}
	require.NoError(t, err)
	t.Cleanup(free.Kill)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, free.UIURL(), nil)
		require.NoError(c, err)
		response, err := http.DefaultClient.Do(request)
		require.NoError(c, err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		require.NoError(c, err)
		require.Equal(c, http.StatusOK, response.StatusCode)
		require.Contains(c, string(body), "<html")
	}, 10*time.Second, 100*time.Millisecond)
}

// freePort is a port that nobody listened on a moment ago.
func freePort(t *testing.T) int {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	return listener.Addr().(*net.TCPAddr).Port
}
