package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// DutyWorkflow is the right to talk to Telegram for a bot: whoever runs its one
// activity has it. It goes on for ever, a run for each term, and hands what one
// holder leaves to the next. It ends only when it is cancelled, after the
// holder has stopped.
//
// It continues as new when a term has ended and at no other time: an activity
// that runs on would then be nobody's, beside that of the next run (measured
// with server 1.29).
func DutyWorkflow(ctx workflow.Context, in contract.DutyInput) error {
	d := newDuty(ctx, in)
	term := d.begin(ctx)
	for ctx.Err() == nil && !term.IsReady() {
		d.read()
		d.show(ctx)
		_ = workflow.Await(ctx, func() bool { return term.IsReady() || d.signalled() }) // the loop asks for the cancel
	}
	handover, err := d.end(ctx, term)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		workflow.GetLogger(ctx).Warn("a term on duty failed: the next one knows only what it knew", "error", err)
	}
	// A signal that is not read now is lost: it does not reach the next run.
	d.read()
	d.show(ctx)
	return workflow.NewContinueAsNewError(ctx, contract.DutyWorkflow, contract.DutyInput{
		BotID: in.BotID, Handover: handover, Pause: d.state.Pause,
	})
}

// duty is the state of one DutyWorkflow.
type duty struct {
	board
	in              contract.DutyInput
	state           contract.DutyState
	pauses, resumes workflow.ReceiveChannel
}

func newDuty(ctx workflow.Context, in contract.DutyInput) *duty {
	return &duty{
		in: in, state: contract.DutyState{Pause: in.Pause},
		pauses:  workflow.GetSignalChannel(ctx, contract.PauseSignal),
		resumes: workflow.GetSignalChannel(ctx, contract.ResumeSignal),
	}
}

// begin starts a term.
func (d *duty) begin(ctx workflow.Context) workflow.Future {
	in := contract.HoldInput{BotID: d.in.BotID, Handover: d.in.Handover}
	return workflow.ExecuteActivity(dutyOptions(ctx, d.in.BotID), contract.HoldDutyActivity, in)
}

// end waits for the end of a term and returns what its holder left. One that
// failed left nothing: then what it began with goes on, but not what the term
// has made wrong.
func (d *duty) end(ctx workflow.Context, term workflow.Future) (*contract.Handover, error) {
	var left contract.Handover
	err := term.Get(ctx, &left)
	switch {
	case err == nil:
		return &left, nil
	case d.in.Handover == nil:
		return nil, err
	default:
		return &contract.Handover{Limiter: d.in.Handover.Limiter}, err
	}
}

func (d *duty) signalled() bool { return d.pauses.Len()+d.resumes.Len() > 0 }

// read takes in what was signalled. The newest signal wins. Two that came with
// one workflow task are known in order only if they bear one name, so of a pause
// and a resume the times decide.
func (d *duty) read() {
	pause, resume := newest(d.pauses), newest(d.resumes)
	switch {
	case resume != nil && (pause == nil || !pause.At.After(resume.At)):
		d.state.Pause = nil
	case pause != nil:
		d.state.Pause = pause
	}
}

// newest is the last of the signals that a channel holds, nil for none.
func newest(c workflow.ReceiveChannel) *contract.Pause {
	all := received[contract.Pause](c)
	if len(all) == 0 {
		return nil
	}
	return &all[len(all)-1]
}

func (d *duty) show(ctx workflow.Context) { d.board.show(ctx, d.state) }
