package stats_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/devserver/devtest"
	"github.com/durabot/durabot/internal/stats"
)

// connect starts a real server.
func connect(t *testing.T) client.Client {
	t.Helper()
	return devtest.Connect(t, filepath.Join("..", ".."), client.Options{})
}

// workflow is one that nobody runs.
type workflow struct {
	kind    string
	outcome string // "" for none
	delay   time.Duration
	bot     int64 // default 7
	ended   bool
}

func (w workflow) start(t *testing.T, c client.Client) {
	t.Helper()
	o := client.StartWorkflowOptions{TaskQueue: contract.TaskQueue(max(w.bot, bot)), StartDelay: w.delay}
	if w.outcome != "" {
		o.TypedSearchAttributes = temporal.NewSearchAttributes(
			temporal.NewSearchAttributeKeyKeyword(contract.AttributeOutcome).ValueSet(w.outcome))
	}
	run, err := c.ExecuteWorkflow(t.Context(), o, w.kind)
	require.NoError(t, err)
	if w.ended {
		require.NoError(t, c.TerminateWorkflow(t.Context(), run.GetID(), run.GetRunID(), "test"))
	}
}

// TestARealServerUnderstandsTheQueries is the only test that would notice a query
// that the server refuses or reads in another way.
func TestARealServerUnderstandsTheQueries(t *testing.T) {
	t.Parallel()
	c := connect(t)
	began := time.Now()
	for _, w := range []workflow{
		{kind: contract.UpdateWorkflow},
		{kind: contract.UpdateWorkflow, outcome: string(contract.Unreachable)}, // no such thing while open, and still unhandled
		{kind: contract.UpdateWorkflow, outcome: contract.OutcomeHandled},
		{kind: contract.UpdateWorkflow, outcome: contract.OutcomeHandled, ended: true},
		{kind: contract.MessageWorkflow},
		{kind: contract.MessageWorkflow, outcome: contract.OutcomeDuplicate},
		{kind: contract.MessageWorkflow, outcome: contract.OutcomeScheduled},
		{kind: contract.MessageWorkflow, delay: time.Hour},
		{kind: contract.MessageWorkflow, ended: true},
		{kind: contract.DeadLetterWorkflow},
		{kind: contract.DeadLetterWorkflow, outcome: contract.OutcomeReplaying},
		{kind: contract.DeadLetterWorkflow, ended: true},
		{kind: contract.ChatWorkflow},
		{kind: contract.MessageWorkflow, bot: 77},
		{kind: contract.UpdateWorkflow, bot: 77},
		{kind: contract.DeadLetterWorkflow, bot: 77},
	} {
		w.start(t, c)
	}
	want := stats.Numbers{InboxUnhandled: new(int64), QueueDepth: 4, DeadOpen: 2, DeadLast24h: 3}
	*want.InboxUnhandled = 2
	eventually(t, c, true, want)
	eventually(t, c, false, stats.Numbers{QueueDepth: 6, DeadOpen: 2, DeadLast24h: 3})

	got, err := stats.Ask(t.Context(), c, client.DefaultNamespace, bot, true)
	require.NoError(t, err)
	require.InDelta(t, time.Since(began).Seconds(), float64(got.OldestPendingAge), 3)
}

// eventually waits for the numbers, whose ages nobody knows.
func eventually(t *testing.T, c client.Client, attributes bool, want stats.Numbers) {
	t.Helper()
	var got stats.Numbers
	deadline := time.Now().Add(10 * time.Second)
	for time.Now().Before(deadline) {
		var err error
		got, err = stats.Ask(t.Context(), c, client.DefaultNamespace, bot, attributes)
		require.NoError(t, err)
		got.OldestPendingAge = 0
		if got.QueueDepth == want.QueueDepth && got.DeadLast24h == want.DeadLast24h && got.DeadOpen == want.DeadOpen {
			break
		}
	}
	require.Equal(t, want, got)
}
