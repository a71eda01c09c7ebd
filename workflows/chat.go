package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// Values of TgOutcome that no call ends with.
const (
	outcomeMoved       = "moved"
	outcomeRateLimited = "rate_limited"
)

// ChatWorkflow keeps what is exceptional about a chat: that it is closed to the
// bot, that another chat took its place, that Telegram's penalty lies on it. It
// shows that in its memo, and ends, with what is then an empty state, when
// nothing is left: an open one is all that need be looked at.
//
// It is started together with its first signal. A signal that comes with the
// task in which it would end keeps it open; one that comes during that task makes
// the server give the task again.
func ChatWorkflow(ctx workflow.Context, in contract.ChatInput) (contract.ChatState, error) {
	c := newChat(ctx, in)
	for {
		c.read(ctx)
		c.show(ctx)
		next := c.nextEnd()
		switch {
		case next.IsZero():
			return contract.ChatState(c.marks), nil
		case workflow.GetInfo(ctx).GetContinueAsNewSuggested():
			in.State = contract.ChatState(c.marks)
			return in.State, workflow.NewContinueAsNewError(ctx, contract.ChatWorkflow, in)
		}
		if err := c.wait(ctx, next); err != nil {
			return contract.ChatState(c.marks), err
		}
	}
}

// chat is the state of one ChatWorkflow.
type chat struct {
	board
	marks
	attributes      bool
	added, takeBack workflow.ReceiveChannel
}

func newChat(ctx workflow.Context, in contract.ChatInput) *chat {
	return &chat{
		marks: marks(in.State), attributes: in.Attributes,
		added:    workflow.GetSignalChannel(ctx, contract.ChatMarkSignal),
		takeBack: workflow.GetSignalChannel(ctx, contract.ChatClearSignal),
	}
}

// read takes in what was signalled and drops what is over. Marks come first:
// which of them a clear means is a matter of their times, not of the order in
// which they came.
func (c *chat) read(ctx workflow.Context) {
	for _, mark := range received[contract.ChatMark](c.added) {
		c.add(mark)
	}
	for _, clear := range received[contract.ChatClear](c.takeBack) {
		c.clear(clear)
	}
	c.drop(workflow.Now(ctx))
}

func (c *chat) show(ctx workflow.Context) {
	c.board.show(ctx, contract.ChatState(c.marks))
	if c.attributes {
		c.showOutcome(ctx, c.outcome())
	}
}

// wait returns at the time of the next end or with the next signal, whichever
// comes first; its error says that the workflow was cancelled. The timer is one
// of our own because that of workflow.AwaitWithTimeout runs on after a signal
// (SDK 1.51, unless a flag is set).
func (c *chat) wait(ctx workflow.Context, until time.Time) error {
	timed, stop := workflow.WithCancel(ctx)
	defer stop()
	timer := workflow.NewTimerWithOptions(timed, until.Sub(workflow.Now(ctx)), workflow.TimerOptions{Summary: "until the next mark ends"})
	_ = workflow.Await(ctx, func() bool { return timer.IsReady() || c.added.Len()+c.takeBack.Len() > 0 })
	return ctx.Err()
}
