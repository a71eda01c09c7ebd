package e2e_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/protobuf/encoding/protojson"
)

// sweep looks for any bot's secret in everything the run left behind: Temporal's
// database and log, the bots' logs, and every history as the UI shows it.
func sweep(ctx context.Context) error {
	if err := exportHistories(ctx); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	shared.temporal.Stop() // writes the last of its database
	files := 0
	err := filepath.WalkDir(shared.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(filepath.Dir(path)) == "bin" {
			return err
		}
		data, err := os.ReadFile(path) //nolint:gosec // the run's own folder
		if err != nil {
			return err
		}
		files++
		return clean(path, data)
	})
	if err == nil && files < 10 {
		return fmt.Errorf("sweep: only %d files to look through", files)
	}
	return err
}

// clean reports the first secret in the data, as it is or encoded.
func clean(name string, data []byte) error {
	secrets.Lock()
	defer secrets.Unlock()
	for _, secret := range secrets.all {
		for _, form := range forms(secret) {
			if bytes.Contains(data, []byte(form)) {
				return fmt.Errorf("%s holds the secret half of a token, as %d bytes", name, len(form))
			}
		}
	}
	return nil
}

// forms are a secret plain, URL-escaped, and in base64 at each alignment.
func forms(secret string) []string {
	all := []string{secret, url.QueryEscape(secret), url.PathEscape(secret)}
	for skip := range 3 {
		padded := base64.StdEncoding.EncodeToString([]byte("aa"[:min(skip, 2)] + secret))
		all = append(all, padded[4:len(padded)-4]) // the middle is the same whatever stands around it
	}
	return all
}

// exportHistories writes every workflow's history as JSON beside the other files.
func exportHistories(ctx context.Context) error {
	c, err := client.Dial(client.Options{HostPort: shared.temporal.Addr(), Logger: sdklog.NewStructuredLogger(discard)})
	if err != nil {
		return err
	}
	defer c.Close()
	list := &workflowservice.ListWorkflowExecutionsRequest{PageSize: 1000}
	for page := 0; page == 0 || len(list.NextPageToken) > 0; page++ {
		res, err := c.ListWorkflow(ctx, list)
		if err != nil {
			return err
		}
		if err := exportPage(ctx, c, page, res.GetExecutions()); err != nil {
			return err
		}
		list.NextPageToken = res.GetNextPageToken()
	}
	return nil
}

func exportPage(ctx context.Context, c client.Client, page int, executions []*workflow.WorkflowExecutionInfo) error {
	for i, info := range executions {
		events := c.GetWorkflowHistory(ctx, info.GetExecution().GetWorkflowId(), info.GetExecution().GetRunId(), false, 0)
		var all []byte
		for events.HasNext() {
			event, err := events.Next()
			if err != nil {
				return err
			}
			text, err := protojson.Marshal(event)
			if err != nil {
				return err
			}
			all = append(all, text...)
		}
		if err := os.WriteFile(filepath.Join(shared.dir, fmt.Sprintf("history-%d-%d.json", page, i)), all, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func TestTheSweepFindsASecretInEachForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	secret := strings.SplitN(w.token, ":", 2)[1]
	for skip := range 3 {
		inside := "xyz"[:skip] + secret + "tail"
		require.Error(t, clean("plain", []byte(inside)))
		require.Error(t, clean("base64", []byte(base64.StdEncoding.EncodeToString([]byte(inside)))))
	}
	require.NoError(t, clean("other", []byte("nothing to see")))
}
