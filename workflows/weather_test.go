package workflows_test

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/contract"
)

// weather is what may happen to batches until they are calm: recipients are
// reached, left, held back, forgotten; processes die; trouble comes.
type weather struct {
	r      *rapid.T
	once   bool      // at most once
	calm   time.Time // batches that begin later reach everybody; the last before ends 5 min later
	waits  bool      // recipients may be held back
	closed map[string]bool
}

func (w *weather) send(ctx workflow.Context, in contract.BatchInput) (contract.BatchResult, error) {
	for _, a := range in.Recipients {
		if w.closed[a.Chat] && (a.Ledger == nil || !a.Ledger.InFlight) {
			panic("reached twice: " + a.Chat)
		}
	}
	if !workflow.Now(ctx).Before(w.calm) {
		return contract.BatchResult{Results: all(in, workflow.Now(ctx))}, nil
	}
	took := time.Duration(rapid.IntRange(0, 300).Draw(w.r, "seconds")) * time.Second
	cancelled := workflow.Sleep(ctx, took) != nil
	if !cancelled && rapid.IntRange(0, 5).Draw(w.r, "way") == 0 {
		return w.closing(contract.BatchLedger{Results: all(in, workflow.Now(ctx))}, nil)
	}
	l := w.some(ctx, in, cancelled)
	switch rapid.IntRange(0, 4).Draw(w.r, "end") {
	case 0:
		return w.closing(l, temporal.NewHeartbeatTimeoutError(l))
	case 1:
		return contract.BatchResult{}, temporal.NewHeartbeatTimeoutError()
	case 2:
		l.InFlight = chatsOf(in.Recipients)
		return w.closing(l, final("Broken"))
	default:
		return w.closing(l, nil)
	}
}

// some is a batch that got so far.
func (w *weather) some(ctx workflow.Context, in contract.BatchInput, cancelled bool) contract.BatchLedger {
	l := contract.BatchLedger{Attempt: 1}
	ways := rapid.SliceOfN(rapid.IntRange(0, 4), 7, 7).Draw(w.r, "recipients")
	for i, a := range in.Recipients {
		now := workflow.Now(ctx)
		if a.Ledger != nil && a.Ledger.InFlight { // it is not sent again
			l.Results = append(l.Results, contract.RecipientResult{Chat: a.Chat, Outcome: contract.Dead, Reason: contract.ReasonUncertain, At: now})
			continue
		}
		switch ways[i%len(ways)] {
		case 0:
			l.Results = append(l.Results, got(a.Chat, now))
		case 1:
			l.InFlight = append(l.InFlight, a.Chat)
		case 2:
			if w.waits && !cancelled {
				a.NotBefore = now.Add(time.Duration(10*i) * time.Second)
			}
			a.Ledger = &contract.Ledger{Failures: 1}
			l.Left = append(l.Left, a)
		default:
			l.Left = append(l.Left, a)
		}
	}
	return l
}

// closing remembers whom nobody may reach again.
func (w *weather) closing(l contract.BatchLedger, err error) (contract.BatchResult, error) {
	for _, r := range l.Results {
		// Of a batch that says nothing of what it knew nobody is closed who may be
		// reached twice.
		w.closed[r.Chat] = err == nil || w.once || temporal.IsTimeoutError(err)
	}
	for _, chat := range l.InFlight {
		w.closed[chat] = w.once
	}
	if err != nil {
		return contract.BatchResult{}, err
	}
	return contract.BatchResult{Results: l.Results, Left: l.Left, Trouble: rapid.SampledFrom([]string{"", "", "", "refused"}).Draw(w.r, "trouble")}, nil
}

func all(in contract.BatchInput, at time.Time) (results []contract.RecipientResult) {
	for _, a := range in.Recipients {
		results = append(results, got(a.Chat, at))
	}
	return results
}

func chatsOf(recipients []contract.Addressee) (all []string) {
	for _, a := range recipients {
		all = append(all, a.Chat)
	}
	return all
}
