package workflows

import (
	"strconv"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

// whole is a call on its way: as it is, or in the parts it was cut into, which
// are made one after the other and have one deadline and one outcome.
type whole struct {
	bot int64
	// left are to be made yet; one that did not arrive is still among them.
	left []contract.Call
	// made are the results of those that were made.
	made []contract.CallResult
	// send is what each send has; its ledger is that of the next.
	send contract.SendInput
	// cancelWaits makes a cancel wait for a request that has left.
	cancelWaits bool
}

// deliver makes what is left. The message is not nil when a call must leave its
// update's turn, and is what goes on.
func (w *whole) deliver(ctx workflow.Context) (contract.CallResult, *contract.MessageInput) {
	if err := w.cut(ctx); err != nil {
		res, gone := ended(w.left[0], err)
		res.PossibleDuplicate = res.PossibleDuplicate || w.send.Ledger.Doubtful()
		return res, gone
	}
	for {
		res, gone := w.next(ctx)
		if gone != nil {
			gone.Rest, gone.Parts = w.left[1:], w.made
			return joined(append(w.made, res)), gone
		}
		w.made = append(w.made, res)
		if res.Outcome != contract.Delivered {
			return joined(w.made), nil
		}
		w.left = w.left[1:]
		if len(w.left) == 0 {
			return joined(w.made), nil
		}
	}
}

// next makes the first of what is left.
func (w *whole) next(ctx workflow.Context) (contract.CallResult, *contract.MessageInput) {
	in := w.send
	in.Call, w.send.Ledger = w.left[0], nil
	res, gone := w.make(ctx, in)
	// One that ended before its first attempt has this from an earlier send alone.
	res.PossibleDuplicate = res.PossibleDuplicate || in.Ledger.Doubtful()
	return res, gone
}

func (w *whole) make(ctx workflow.Context, in contract.SendInput) (contract.CallResult, *contract.MessageInput) {
	if w.cancelWaits {
		return w.makeOrTakeBack(ctx, in)
	}
	return sent(ctx, in.Call, startSend(ctx, w.bot, in, false))
}

// cut takes a call apart that is too long and is to be cut then. What is known of
// it holds for the first part.
func (w *whole) cut(ctx workflow.Context) error {
	if !w.left[0].Split {
		return nil
	}
	var res contract.SplitResult
	ctx = workflow.WithLocalActivityOptions(ctx, splitOptions)
	if err := workflow.ExecuteLocalActivity(ctx, activities.Split, w.left[0]).Get(ctx, &res); err != nil {
		return err
	}
	if len(res.Calls) > 1 || res.Degraded {
		w.left = res.Calls
	}
	if res.Degraded {
		var known contract.Ledger
		if w.send.Ledger != nil {
			known = *w.send.Ledger
		}
		known.Degraded = true
		w.send.Ledger = &known
	}
	return nil
}

// joined is the one result of a call of these parts: how it ended is what the
// last of them says.
func joined(parts []contract.CallResult) contract.CallResult {
	if len(parts) == 1 {
		return parts[0]
	}
	res := parts[len(parts)-1]
	res.Method, res.ChatID, res.MessageID, res.Attempts = parts[0].Method, parts[0].ChatID, parts[0].MessageID, 0
	for _, p := range parts {
		if p.MessageID != "" {
			res.MessageIDs = append(res.MessageIDs, p.MessageID)
		}
		res.Attempts += p.Attempts
		res.PossibleDuplicate = res.PossibleDuplicate || p.PossibleDuplicate
		res.Degraded = res.Degraded || p.Degraded
		res.Overtaken = res.Overtaken || p.Overtaken
	}
	return res
}

// ledger is what a later send has to know of the call that ended the whole, nil
// for nothing.
func (w *whole) ledger() *contract.Ledger {
	if len(w.made) == 0 {
		return nil
	}
	last := w.made[len(w.made)-1]
	moved, _ := strconv.ParseInt(last.MovedTo, 10, 64)
	known := contract.Ledger{
		PossibleDuplicate: last.PossibleDuplicate || last.Reason == contract.ReasonUncertain,
		MovedTo:           moved, Degraded: last.Degraded,
	}
	if known == (contract.Ledger{}) {
		return nil
	}
	return &known
}

// tooLate is when the call expires, zero when nobody asked for a TTL.
func (w *whole) tooLate() time.Time {
	if w.left[0].TTL <= 0 {
		return time.Time{}
	}
	return w.send.Deadline
}

// arrived counts what was delivered of a call, which may have been cut.
func arrived(c contract.CallResult) int {
	switch {
	case len(c.MessageIDs) > 0:
		return len(c.MessageIDs)
	case c.Outcome == contract.Delivered:
		return 1
	default:
		return 0
	}
}

// deadline is when a call expires that may leave now, or at its own time if that
// is later.
func deadline(ctx workflow.Context, call contract.Call) time.Time {
	leave := workflow.Now(ctx)
	if call.At.After(leave) {
		leave = call.At
	}
	return leave.Add(call.Lifetime())
}
