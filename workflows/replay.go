package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// replay does again what is left to do, as the person wanted who asked for it.
func (l *letter) replay(ctx workflow.Context) {
	r := *l.wanted
	l.wanted = nil
	l.show(ctx)
	results, err := l.redo(ctx, r)
	l.judge(results, err)
	l.passed = false // wakes also those who wait in memory
}

// redo waits for the letter before, has the update handled if that is what is
// left, and makes the calls. Its error is that of the handler or of a cancel.
func (l *letter) redo(ctx workflow.Context, r contract.Replay) ([]contract.CallResult, error) {
	received[string](l.yours) // the answer to an earlier question is none to this one
	l.after = r.After
	if err := l.await(ctx, time.Time{}); err != nil {
		return nil, err
	}
	if err := l.handle(ctx); err != nil {
		return nil, err
	}
	l.edit(r)
	return l.makeAll(ctx, r), nil
}

// handle has the update handled again. Then it is done, and only the calls are
// left that its handler decided on: what of them arrives is never made again.
func (l *letter) handle(ctx workflow.Context) error {
	u := l.in.Update
	if u == nil {
		return nil
	}
	calls, err := handled(ctx, *u, l.raw, max(1, u.Handling.Attempts))
	if err != nil {
		return err
	}
	l.in.Update = nil
	for n, call := range calls {
		l.left = append(l.left, owed{call: keyed(u.UpdateID, n, call)})
	}
	return nil
}

// edit changes the first call. What was known of its chat and its text is known
// of the old ones.
func (l *letter) edit(r contract.Replay) {
	if len(r.Edit) == 0 {
		return
	}
	first := &l.left[0]
	call, err := edited(first.call, r.Edit)
	if err != nil {
		return // it was refused then
	}
	first.call = call
	if first.ledger != nil {
		first.ledger = &contract.Ledger{PossibleDuplicate: first.ledger.PossibleDuplicate}
	}
}

// makeAll makes the calls one after the other. After one that died only
// independent ones are made; what did not arrive stays.
func (l *letter) makeAll(ctx workflow.Context, r contract.Replay) []contract.CallResult {
	var results []contract.CallResult
	var stay []owed
	died := false
	for _, o := range l.left {
		if ctx.Err() != nil || died && !o.call.Independent {
			stay = append(stay, o)
			continue
		}
		res, rest := l.make(ctx, o, r)
		died = died || res.Outcome == contract.Dead
		results, stay = append(results, res), append(stay, rest...)
		l.state.Delivered += arrived(res)
	}
	l.left = stay
	return results
}

// make makes one call at bulk priority and returns what of it stays. One with a
// key or a time of its own goes on as a message.
func (l *letter) make(ctx workflow.Context, o owed, r contract.Replay) (contract.CallResult, []owed) {
	if o.call.Separate() {
		in := contract.MessageInput{BotID: l.in.BotID, Attributes: l.in.Attributes, Key: o.call.Key, Call: o.call}
		res := separate(ctx, in)
		if res.Outcome == contract.Pending {
			return res, nil
		}
		return res, []owed{o}
	}
	o.call.Priority = contract.Bulk
	w := &whole{
		bot: l.in.BotID, left: []contract.Call{o.call}, cancelWaits: true,
		send: contract.SendInput{Deadline: l.deadline(ctx, o.call, r.TTL), Ledger: o.ledger},
	}
	res, _ := w.deliver(ctx) // it holds no turn that it could leave
	if over(res) {
		return res, nil
	}
	return res, rest(o, w, res)
}

// judge takes in how a replay ended.
func (l *letter) judge(results []contract.CallResult, err error) {
	l.state.Actions[len(l.state.Actions)-1].Calls = results[:min(len(results), resultsKept)]
	l.state.Replaying, l.state.Left = false, len(l.left)
	switch {
	case temporal.IsCanceledError(err):
	case err != nil:
		l.state.Reason, l.state.Error = contract.ReasonHandlerFailed, handlerWords
		l.state.Attempts += l.in.Update.Handling.Attempts
	case len(l.left) == 0:
		l.state.State = contract.DeadReplayed
	default:
		l.tell(results)
	}
}

// tell says why the letter stays open: what died anew, or else how the first of
// those ended that did not arrive.
func (l *letter) tell(results []contract.CallResult) {
	i := slices.IndexFunc(results, func(c contract.CallResult) bool { return c.Outcome == contract.Dead })
	if i < 0 {
		i = slices.IndexFunc(results, func(c contract.CallResult) bool { return !over(c) })
	}
	if i < 0 {
		return
	}
	c := results[i]
	l.state.Error, l.state.Method, l.state.ChatID = c.Error, c.Method, c.ChatID
	l.state.Attempts += c.Attempts
	switch {
	case c.Outcome == contract.Dead:
		l.state.Reason = c.Reason
	case c.Error == "":
		l.state.Error = string(c.Outcome)
	default:
		l.state.Error = string(c.Outcome) + ": " + c.Error
	}
}
