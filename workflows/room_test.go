package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/workflows"
)

// room is a chat's workflow and what it has shown.
type room struct {
	*shown
	t     *testing.T
	env   *testsuite.TestWorkflowEnvironment
	start time.Time
	in    contract.ChatInput
}

// signalled is a chat's workflow that is started together with its first signals:
// those of time 0.
const signalled = "SignalWithStart"

func newRoom(t require.TestingT) *room {
	env := newEnv()
	env.RegisterWorkflowWithOptions(func(ctx workflow.Context, in contract.ChatInput) (contract.ChatState, error) {
		if err := workflow.Sleep(ctx, time.Nanosecond); err != nil {
			return contract.ChatState{}, err
		}
		return workflows.ChatWorkflow(ctx, in)
	}, workflow.RegisterOptions{Name: signalled})
	r := &room{env: env, shown: watch(env), in: contract.ChatInput{BotID: bot, State: contract.ChatState{ChatID: 42}, Attributes: true}}
	r.t, _ = t.(*testing.T)
	r.start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	env.SetStartTime(r.start)
	return r
}

// signal sends marks and clears, those of one call with one workflow task.
func (r *room) signal(after time.Duration, signals ...any) {
	r.env.RegisterDelayedCallback(func() {
		for i, s := range signals {
			name := contract.ChatMarkSignal
			if _, ok := s.(contract.ChatClear); ok {
				name = contract.ChatClearSignal
			}
			send := r.env.SignalWorkflow
			if i < len(signals)-1 {
				send = r.env.SignalWorkflowSkippingWorkflowTask
			}
			send(name, s)
		}
	}, after)
}

// run plays the chat until it ends and returns when, rounded.
func (r *room) run() (time.Duration, error) {
	r.env.ExecuteWorkflow(signalled, r.in)
	return r.env.Now().Sub(r.start).Round(time.Millisecond), r.env.GetWorkflowError()
}

// ends expects that nothing is left at this time.
func (r *room) ends(want time.Duration) {
	r.t.Helper()
	at, err := r.run()
	require.NoError(r.t, err)
	require.Equal(r.t, want, at)
	require.JSONEq(r.t, `{"chat_id":"42"}`, r.last())
	var res contract.ChatState
	require.NoError(r.t, r.env.GetWorkflowResult(&res))
	require.Equal(r.t, contract.ChatState{ChatID: 42}, res)
}

func (r *room) closed(why string, after time.Duration) contract.ChatMark {
	return contract.ChatMark{Closed: &contract.ChatClosed{Why: why, Since: r.start.Add(after)}}
}

func (r *room) moved(to int64, after time.Duration) contract.ChatMark {
	return contract.ChatMark{Moved: &contract.ChatMoved{To: to, Since: r.start.Add(after)}}
}

func (r *room) limited(method string, until time.Duration) contract.ChatMark {
	return contract.ChatMark{Penalties: []contract.ChatPenalty{{Method: method, Until: r.start.Add(until)}}}
}

func (r *room) reopened(before time.Duration) contract.ChatClear {
	return contract.ChatClear{Before: r.start.Add(before), Reason: "an update came", By: "intake"}
}

// erased takes all marks back.
func (r *room) erased(before time.Duration) contract.ChatClear {
	c := r.reopened(before)
	c.All = true
	return c
}

const day = 24 * time.Hour
