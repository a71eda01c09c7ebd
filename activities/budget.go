package activities

import (
	"context"
	"time"

	"github.com/durabot/durabot/internal/contract"
)

// Budget grants the right to send. One process holds it for a bot.
type Budget interface {
	// Acquire waits for the bot's turn in place. Where the chat has to wait
	// longer than is worth a slot it returns an error with a RetryIn method.
	Acquire(ctx context.Context, w Want) (Grant, error)
	// Penalize keeps a chat silent until a time; chat 0 stands for the method
	// on all chats, and with method "" for the whole bot.
	Penalize(chat int64, method string, until time.Time)
}

// Want is what a call asks of the budget.
type Want struct {
	Chat     int64 // 0 for none
	Method   string
	Items    int  // messages it makes, at least 1
	Counts   bool // false waits for penalties only
	Priority contract.Priority
	Since    time.Time // its place among the calls of its chat
}

// Grant is one right to send.
type Grant interface {
	// Done says that Telegram answered, or that nobody knows: the call counts.
	Done()
	// Cancel says that the request never left: the call does not count.
	Cancel()
}

// retryIn is the error of an Acquire that gave its slot back.
type retryIn interface {
	error
	RetryIn() time.Duration
}
