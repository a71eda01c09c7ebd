package activities

import (
	"encoding/json"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
)

// try is one attempt of one call.
type try struct {
	*Sender
	notes
	info   activity.Info
	in     contract.SendInput
	method telegram.Method
	params json.RawMessage
	chat   int64 // whose budget it spends, 0 for none
	id     int64 // the chat's own number, 0 where it is not known
	// name is the public name by which the call names its chat, "" for none.
	name string
	// address is the chat the call was made for; params follow it when it moves.
	address string
	// flow is the broadcast that the call belongs to, "" for none, and flowRate the
	// most calls of it a second, 0 for no limit of its own.
	flow     string
	flowRate float64
	// paid calls spend a budget of their own.
	paid bool
	// stays is asked before the call follows its chat to a new id, and an error
	// keeps it from that. Nil lets it.
	stays func(to int64) error
	// patience is when the attempt stops waiting for the budget.
	patience time.Time
	// granted is when the last request was, departed when it left.
	granted, departed time.Time
	// own is whether a failure of the last request counts against the call.
	own bool
	// settle gives the grant of the last request back.
	settle func()
}

func (s *Sender) newTry(info activity.Info, in contract.SendInput, n notes) (*try, error) {
	params, err := in.Call.Object()
	if err != nil {
		return nil, temporal.NewNonRetryableApplicationError("params are no JSON", contract.FailureRejected, nil)
	}
	t := &try{
		Sender: s, notes: n, info: info, in: in,
		method: telegram.Lookup(in.Call.Method), params: params,
		address: contract.Address(params), own: true, paid: telegram.Paid(in.Call.Method, params),
	}
	t.patience = time.Now().Add(min(waitMost, t.left()*9/10))
	t.chat = budgetChat(params)
	t.id, t.name, _ = telegram.ChatID(params)
	before := n.entries()
	if before.MovedTo != 0 {
		t.readdress(before.MovedTo)
	}
	if before.Degraded {
		t.params, _ = plain(t.params)
	}
	return t, nil
}

// since is when the call was first to be made, its place among those of its chat.
func (t *try) since() time.Time {
	if since := t.entries().Since; !since.IsZero() {
		return since
	}
	return t.info.ScheduledTime
}

// result is what is known of the call so far.
func (t *try) result() contract.CallResult {
	l := t.entries()
	res := contract.CallResult{
		Method: t.in.Call.Method, ChatID: t.address, Attempts: int(t.info.Attempt),
		PossibleDuplicate: l.PossibleDuplicate, Degraded: l.Degraded, Error: l.Error,
	}
	if now := contract.Address(t.params); now != t.address {
		res.MovedTo = now
	}
	return res
}

// left is the time until the call expires.
func (t *try) left() time.Duration { return time.Until(t.in.Deadline) }
