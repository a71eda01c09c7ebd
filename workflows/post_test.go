package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// post is a duty workflow whose holder is a fake that holds for an hour, unless
// hold says otherwise.
type post struct {
	*shown
	asked   *asked
	t       *testing.T
	env     *testsuite.TestWorkflowEnvironment
	hold    func(contract.HoldInput) (contract.Handover, error)
	holding time.Duration
	held    []contract.HoldInput
}

func newPost(t *testing.T) *post {
	t.Helper()
	asked := new(asked)
	env := newEnv(asked)
	p := &post{t: t, env: env, asked: asked, shown: watch(env), holding: time.Hour}
	p.hold = func(contract.HoldInput) (contract.Handover, error) { return left(), nil }
	env.RegisterActivityWithOptions(func(context.Context, contract.HoldInput) (contract.Handover, error) {
		return contract.Handover{}, nil
	}, activity.RegisterOptions{Name: contract.HoldDutyActivity})
	env.OnActivity(contract.HoldDutyActivity, mock.Anything, mock.Anything).
		AfterFn(func() time.Duration { return p.holding }).
		Return(func(_ context.Context, in contract.HoldInput) (contract.Handover, error) {
			p.held = append(p.held, in)
			return p.hold(in)
		})
	return p
}

// left is what a holder leaves when its term ends in order.
func left() contract.Handover {
	return contract.Handover{
		Clean: true, Limiter: json.RawMessage(`{"air":1}`), Tails: []contract.Tail{{Key: "42", UpdateID: 1, WorkflowID: after}},
		Chats: []contract.ChatState{{ChatID: 42}},
	}
}

// signal sends signals that come with one workflow task.
func (p *post) signal(after time.Duration, name string, signals ...contract.Pause) {
	p.env.RegisterDelayedCallback(func() {
		for _, s := range signals[:len(signals)-1] {
			p.env.SignalWorkflowSkippingWorkflowTask(name, s)
		}
		p.env.SignalWorkflow(name, signals[len(signals)-1])
	}, after)
}

// next runs one term and returns what the next run starts with.
func (p *post) next(in contract.DutyInput) contract.DutyInput {
	p.t.Helper()
	p.env.SetStartWorkflowOptions(client.StartWorkflowOptions{WorkflowTaskTimeout: 2 * time.Second})
	p.env.ExecuteWorkflow(contract.DutyWorkflow, in)
	require.True(p.t, p.env.IsWorkflowCompleted())
	again, ok := errors.AsType[*workflow.ContinueAsNewError](p.env.GetWorkflowError())
	require.True(p.t, ok, "%v", p.env.GetWorkflowError())
	require.Equal(p.t, contract.DutyWorkflow, again.WorkflowType.Name)
	require.Equal(p.t, 2*time.Second, again.WorkflowTaskTimeout)
	var next contract.DutyInput
	require.NoError(p.t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &next))
	require.Equal(p.t, in.BotID, next.BotID)
	seen, err := json.Marshal(contract.DutyState{Pause: next.Pause})
	require.NoError(p.t, err)
	require.JSONEq(p.t, string(seen), p.last(), "the next run starts with the memo of this one")
	return next
}

func pause(why string, at time.Duration) contract.Pause {
	return contract.Pause{Reason: why, By: "ann", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(at)}
}
