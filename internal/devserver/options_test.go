package devserver

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDefaultsKeepTheServerOnLoopbackWithoutUI(t *testing.T) {
	t.Parallel()
	o := Options{Port: 7233}.withDefaults()
	args := strings.Join(o.arguments(), " ")
	require.Contains(t, args, "--ip 127.0.0.1 --port 7233")
	require.Contains(t, args, "--headless")
	require.NotContains(t, args, "sqlite", "memory only")
	require.Contains(t, args, "--search-attribute TgChat=Keyword --search-attribute TgKind=Keyword --search-attribute TgOutcome=Keyword")
	require.Equal(t, DefaultRetention, o.Retention)
	require.Equal(t, DefaultStopTimeout, o.StopTimeout)
}

func TestDatabaseIsWrittenAheadAndQueuesAreNotSplit(t *testing.T) {
	t.Parallel()
	args := strings.Join(Options{DBFile: "x.db", UIPort: 8233}.withDefaults().arguments(), " ")
	require.Contains(t, args, "--db-filename x.db --sqlite-pragma journal_mode=wal --sqlite-pragma synchronous=normal")
	require.Contains(t, args, "matching.useNewMatcher=true")
	require.Contains(t, args, "matching.numTaskqueueReadPartitions=1")
	require.Contains(t, args, "matching.numTaskqueueWritePartitions=1")
	require.Contains(t, args, "history.transferProcessorMaxPollRPS=1000")
	require.Contains(t, args, "--ui-ip 127.0.0.1 --ui-port 8233")
	require.NotContains(t, args, "--headless")
}
