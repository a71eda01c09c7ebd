package broadcast_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/broadcast"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/devserver/devtest"
)

// connect starts a real server.
func connect(t *testing.T) client.Client {
	t.Helper()
	return devtest.Connect(t, filepath.Join("..", ".."), client.Options{})
}

// reach is a part that reaches its first recipient, continues, and ends when it is
// ordered to.
func reach(ctx workflow.Context, in contract.PartInput) (res contract.PartResult, err error) {
	if len(in.Results) == 0 {
		in.Results, in.Recipients = results(in.Recipients[0].Chat), in.Recipients[1:]
		return res, workflow.NewContinueAsNewError(ctx, contract.BroadcastPartWorkflow, in)
	}
	res.Counts, res.Results = reached(len(in.Results)), in.Results
	for _, a := range in.Recipients {
		res.Left = append(res.Left, a.Chat)
	}
	err = workflow.SetQueryHandler(ctx, contract.ResultsQuery, func() (contract.PartResult, error) { return res, nil })
	if err == nil {
		err = workflow.UpsertMemo(ctx, map[string]any{contract.MemoState: contract.PartState{Counts: res.Counts}})
	}
	workflow.GetSignalChannel(ctx, contract.OrderSignal).Receive(ctx, nil)
	return contract.PartResult{Counts: res.Counts, Results: res.Results}, err
}

// live is a real server, whose parts reach.
type live struct {
	client.Client
	t *testing.T
}

func newLive(t *testing.T) live {
	t.Helper()
	r := live{connect(t), t}
	w := worker.New(r.Client, contract.TaskQueue(bot), worker.Options{})
	w.RegisterWorkflowWithOptions(reach, workflow.RegisterOptions{Name: contract.BroadcastPartWorkflow})
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	return r
}

func (r live) start(id, kind string, in, state any) {
	r.t.Helper()
	o := client.StartWorkflowOptions{ID: id, TaskQueue: contract.TaskQueue(bot), Memo: map[string]any{contract.MemoState: state}}
	_, err := r.ExecuteWorkflow(r.t.Context(), o, kind, in)
	require.NoError(r.t, err)
}

func (r live) part(of string, n int, chats ...string) {
	r.t.Helper()
	var in contract.PartInput
	for _, chat := range chats {
		in.Recipients = append(in.Recipients, contract.Addressee{Recipient: contract.Recipient{Chat: chat}})
	}
	r.start(contract.PartID(bot, of, n), contract.BroadcastPartWorkflow, in, contract.PartState{})
}

func (r live) ends(id string) {
	r.t.Helper()
	require.NoError(r.t, r.GetWorkflow(r.t.Context(), id, "").Get(r.t.Context(), nil))
}

func (r live) terminate(id string) {
	r.t.Helper()
	require.NoError(r.t, r.TerminateWorkflow(r.t.Context(), id, "", "test"))
}

// look sees that two of six were reached.
func (r live) look(t require.TestingT) {
	for most := 1; most <= 2; most++ {
		w, err := broadcast.Wait(r.t.Context(), r, bot, most)
		require.NoError(t, err)
		require.Equal(t, broadcast.Waiting{Broadcasts: 1, Recipients: 4, Requests: 1 + most}, w)
	}
	s, err := broadcast.Look(r.t.Context(), r, bot, name)
	require.NoError(t, err)
	require.Equal(t, 4, s.Pending)
	all, err := broadcast.List(r.t.Context(), r, bot)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, name, all[0].Name)
}

// The only test that would notice a query or a history that the server understands
// in another way.
func TestARealServerIsReadAsItIs(t *testing.T) {
	t.Parallel()
	r, ctx := newLive(t), t.Context()
	r.part(name, 1, "1", "2")
	r.part(name, 2, "3", "4")
	r.part(name, 3, "5", "6")
	state := contract.BroadcastState{Phase: contract.BroadcastRunning, Total: 6, Running: []int{1, 2}, AcceptedAt: time.Now(), BeganAt: time.Now()}
	r.start(contract.BroadcastID(bot, name), contract.BroadcastWorkflow, contract.BroadcastInput{Sizes: []int{2, 2, 2}}, state)
	require.EventuallyWithT(t, func(t *assert.CollectT) { r.look(t) }, 20*time.Second, 50*time.Millisecond)

	_, all, err := broadcast.Recipients(ctx, r, bot, name)
	require.NoError(t, err)
	require.Len(t, all, 6)
	require.Contains(t, all, "1", "the first run had it")

	order := contract.BroadcastOrder{What: contract.BroadcastCancel}
	require.NoError(t, r.SignalWorkflow(ctx, contract.PartID(bot, name, 1), "", contract.OrderSignal, order))
	r.ends(contract.PartID(bot, name, 1))
	r.terminate(contract.PartID(bot, name, 3))
	rows := map[string]string{}
	complete, err := broadcast.Report(ctx, r, bot, name, func(r broadcast.Row) error {
		rows[r.Chat] = r.Outcome
		return nil
	})
	require.NoError(t, err)
	require.True(t, complete)
	require.Equal(t, map[string]string{"1": "delivered", "3": "delivered", "4": "pending", "5": "delivered", "6": "uncertain"}, rows)
}

func TestARealServerTakesOrders(t *testing.T) {
	t.Parallel()
	r, ctx := newLive(t), t.Context()
	order := contract.BroadcastOrder{What: contract.BroadcastCancel}
	r.part("half", 1, "1", "2")
	_, err := broadcast.Look(ctx, r, bot, "half")
	require.ErrorIs(t, err, broadcast.ErrHalfStarted)
	require.NoError(t, broadcast.Order(ctx, r, bot, "half", order))
	r.ends(contract.PartID(bot, "half", 1))
	_, err = broadcast.Look(ctx, r, bot, "half")
	require.ErrorIs(t, err, broadcast.ErrNone)

	r.start(contract.BroadcastID(bot, name), contract.BroadcastWorkflow, contract.BroadcastInput{}, contract.BroadcastState{})
	require.NoError(t, broadcast.Order(ctx, r, bot, name, order))
	r.terminate(contract.BroadcastID(bot, name))
	require.ErrorIs(t, broadcast.Order(ctx, r, bot, name, order), broadcast.ErrEnded)
	require.ErrorIs(t, broadcast.Order(ctx, r, bot, "none", order), broadcast.ErrNone)
}
