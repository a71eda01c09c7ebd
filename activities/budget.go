package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/durabot/durabot/internal/contract"
)

// Budget grants the right to send. The process on duty holds it for a bot.
type Budget interface {
	// Acquire waits for the bot's turn in place. Where the call has to wait longer
	// than is worth a slot it returns an error with a RetryIn and a MethodOnly
	// method. The other errors are ErrDropped, ErrSuperseded, *MovedTo and those
	// of ctx.
	Acquire(ctx context.Context, w Want) (Grant, error)
	// Penalize tells of a 429 and who got it: the method and its chat, or chat 0
	// for a call without one, which is about the method on all chats. Without a
	// method either, the whole bot keeps silent until then.
	Penalize(chat int64, method string, until time.Time)
	// Move makes the budget, and the calls that wait in it, follow a chat to its
	// new id.
	Move(from, to int64)
}

// Want is what a call asks of the budget.
type Want struct {
	Chat     int64 // 0 for none
	Method   string
	Items    int  // messages it makes, at least 1
	Counts   bool // false waits for penalties only
	Priority contract.Priority
	Since    time.Time // its place among the calls of its chat
	// Transient calls are dropped rather than delayed.
	Transient bool
	// Flow is the broadcast it belongs to, "" for none. Bulk flows take turns.
	Flow string
	// FlowRate is the most calls of the flow a second, 0 for no limit of its own.
	FlowRate float64
	// Paid calls spend a budget of their own for the whole bot.
	Paid bool
	// Edits names what an edit overwrites in its chat, "" for none. A newer call
	// with the same name takes the place of one that still waits.
	Edits string
}

// Grant is one right to send.
type Grant interface {
	// Stands reports whether the request may still leave, after a wait for something
	// else: a penalty may have begun meanwhile.
	Stands() bool
	// Done says that Telegram answered: the call counts.
	Done()
	// Lost says that nobody knows what Telegram would have answered: the call counts,
	// and proves nothing about the others.
	Lost()
	// Cancel says that the request never left: the call does not count.
	Cancel()
}

// What a wait for the budget may end with beside a grant.
var (
	// ErrDropped is for a transient call that would have to wait.
	ErrDropped = errors.New("it would have come too late to be of use")
	// ErrSuperseded is for an edit that was overtaken by a newer one.
	ErrSuperseded = errors.New("a newer edit of the same message took its place")
)

// MovedTo is the error of a call whose chat moved while it waited.
type MovedTo struct{ To int64 }

// Error names the new chat.
func (m *MovedTo) Error() string { return fmt.Sprintf("the chat moved to %d", m.To) }

// retryIn is the error of an Acquire that gave its slot back.
type retryIn interface {
	error
	RetryIn() time.Duration
	// MethodOnly says that other methods of its chat need not wait.
	MethodOnly() bool
}

// edited names the message that an edit overwrites, "" where two calls of the
// method do not replace each other. A live location is left out when it sets its
// period: a newer one without that keeps the old period (Bot API,
// editMessageLiveLocation).
func edited(method string, params json.RawMessage) string {
	var p struct {
		ChatID     json.RawMessage `json:"chat_id"`
		MessageID  json.RawMessage `json:"message_id"`
		Business   string          `json:"business_connection_id"`
		LivePeriod json.RawMessage `json:"live_period"`
	}
	if !strings.HasPrefix(strings.ToLower(method), "edit") || json.Unmarshal(params, &p) != nil {
		return ""
	}
	message := strings.Trim(string(p.MessageID), `"`)
	if message == "" || p.ChatID == nil || p.LivePeriod != nil {
		return ""
	}
	// A chat of a business account counts its messages by itself.
	return strings.TrimSuffix(strings.Join([]string{method, message, p.Business}, "/"), "/")
}
