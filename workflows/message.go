package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

const (
	// outcomeFirst and outcomeMost bound the wait between two questions how another
	// message ended. It passes its turn a moment before it is closed.
	outcomeFirst = 100 * time.Millisecond
	outcomeMost  = time.Minute
)

// MessageWorkflow is the story of one call with a key or a time of its own, or
// of one that left its update's turn: wait until it may leave, wait for the
// message before it if there is one, make it. It fails when the call died, and
// leaves a dead letter.
func MessageWorkflow(ctx workflow.Context, in contract.MessageInput) (contract.CallResult, error) {
	m := newMessage(ctx, in)
	waited, err := m.awaitTime(ctx)
	if err == nil && waited && in.Counted && !m.asked() {
		// A signal that came before does not reach the next run, so one that somebody
		// waits for goes on in this one.
		in.AcceptedAt = m.accepted(ctx)
		return contract.CallResult{}, workflow.NewContinueAsNewError(ctx, contract.MessageWorkflow, in)
	}
	res := m.deliver(ctx)
	res.Overtaken = in.Overtaken
	letter := m.bury(ctx, res)
	m.pass(ctx)
	showEnd(ctx, in.Attributes, endOf(res))
	if res.Outcome == contract.Dead {
		return res, dead(res.Reason, string(res.Reason)+": "+res.Error+letter, res)
	}
	return res, nil
}

// message is the state of one MessageWorkflow.
type message struct {
	*turn
	*whole
	in contract.MessageInput
}

func newMessage(ctx workflow.Context, in contract.MessageInput) *message {
	m := &message{turn: newTurn(ctx, in.After), in: in, whole: &whole{
		bot: in.BotID, left: append([]contract.Call{in.Call}, in.Rest...), made: in.Parts,
		send: contract.SendInput{Deadline: in.Deadline, Ledger: in.Ledger}, cancelWaits: in.CancelWaits,
	}}
	m.again, m.passed = true, true // its key may come again, so nobody remembers it as done
	return m
}

// accepted is when the call was taken on.
func (m *message) accepted(ctx workflow.Context) time.Time {
	if m.in.AcceptedAt.IsZero() {
		return workflow.GetInfo(ctx).WorkflowStartTime
	}
	return m.in.AcceptedAt
}

// awaitTime returns when the call may leave, and whether it had to wait for the
// time that its author gave it. Its error says that the workflow was cancelled.
func (m *message) awaitTime(ctx workflow.Context) (bool, error) {
	now, leave := workflow.Now(ctx), m.in.Call.At
	later := leave.After(now)
	if m.in.NotBefore.After(leave) {
		leave = m.in.NotBefore
	}
	if wait := leave.Sub(now); wait > 0 {
		err := workflow.NewTimerWithOptions(ctx, wait, workflow.TimerOptions{Summary: "until it may leave"}).Get(ctx, nil)
		if err != nil {
			return false, err
		}
	}
	takeBackScheduled(ctx)
	return later, nil
}

// deliver makes the call when the message before it has ended.
func (m *message) deliver(ctx workflow.Context) contract.CallResult {
	if m.send.Deadline.IsZero() {
		m.send.Deadline = workflow.Now(ctx).Add(m.in.Call.Lifetime())
	}
	if outcome, why := m.awaitOther(ctx); outcome != "" {
		unmade := contract.CallResult{
			Method: m.in.Call.Method, ChatID: m.in.Call.Address(), Outcome: outcome, Error: why,
			PossibleDuplicate: m.send.Ledger.Doubtful(),
		}
		return joined(append(m.made, unmade))
	}
	res, _ := m.whole.deliver(ctx) // it holds no turn that it could leave
	return res
}

// awaitOther returns when the message before has ended. If this one is not to be
// made then, it says how it ends, and why.
func (m *message) awaitOther(ctx workflow.Context) (contract.Outcome, string) {
	err := m.await(ctx, m.send.Deadline)
	why := ""
	if err == nil && m.after != "" && m.in.AfterDelivered {
		why, err = m.otherFailed(ctx)
	}
	switch {
	case ctx.Err() != nil || temporal.IsCanceledError(err):
		return contract.Cancelled, ""
	case err != nil:
		return contract.Expired, "too late: it waited for " + m.after + ", which has not ended"
	case why != "":
		return contract.Cancelled, "not sent: " + why
	default:
		return "", ""
	}
}

// otherFailed asks how the message before ended until there is an answer, and
// returns it unless that is delivered.
func (m *message) otherFailed(ctx workflow.Context) (string, error) {
	for wait := outcomeFirst; ; wait = min(2*wait, outcomeMost) {
		end, err := m.outcomeOfOther(ctx)
		switch {
		case err == nil && end == contract.Delivered:
			return "", nil
		case err == nil && end == "":
			return "how " + m.after + " ended is not known any more", nil
		case err == nil && end != contract.Pending:
			return m.after + " ended " + string(end), nil
		case !workflow.Now(ctx).Before(m.send.Deadline):
			return "", errTooLate
		}
		if err := workflow.Sleep(ctx, wait); err != nil {
			return "", err
		}
	}
}

func (m *message) outcomeOfOther(ctx workflow.Context) (end contract.Outcome, err error) {
	var turns *activities.Turns
	ctx = workflow.WithLocalActivityOptions(ctx, turnOptions)
	err = workflow.ExecuteLocalActivity(ctx, turns.Outcome, m.after).Get(ctx, &end)
	return end, err
}
