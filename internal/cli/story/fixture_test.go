package story_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/durabot/durabot/internal/cli/story"
)

// person is in every text that a person or a handler of the recorded bot wrote.
const person = "XYZZY"

// recorded is a history that a real bot left on a real server, exported with
// `temporal workflow show -o json`, and beside it, where there are pending
// activities, what `temporal workflow describe --raw` said at the same time.
func recorded(t *testing.T, name string) story.Source {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	require.NoError(t, err)
	history, err := client.HistoryFromJSON(bytes.NewReader(data), client.HistoryJSONOptions{})
	require.NoError(t, err)
	source := story.Source{Events: history.GetEvents()}
	described, err := os.ReadFile(filepath.Join("testdata", name+"_describe.json"))
	if os.IsNotExist(err) {
		return source
	}
	require.NoError(t, err)
	var res workflowservice.DescribeWorkflowExecutionResponse
	require.NoError(t, temporalproto.CustomJSONUnmarshalOptions{DiscardUnknown: true}.Unmarshal(described, &res))
	source.Pending = res.GetPendingActivities()
	return source
}

func told(t *testing.T, name string) story.Story {
	t.Helper()
	s, err := story.Of(recorded(t, name))
	require.NoError(t, err)
	return s
}
