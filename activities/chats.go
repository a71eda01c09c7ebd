package activities

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/durabot/durabot/internal/telegram"
)

// lastingPenalty is the shortest penalty on a chat that is kept beside the
// budget's own state, which a kill of every process takes along.
const lastingPenalty = 30 * time.Second

// chatTimeout bounds what is written about a chat after an answer: the call's
// grant is held until then, so that the next call of the chat meets the mark.
const chatTimeout = 5 * time.Second

// Chats is what a sender must know of chats. A chat is known by its number; a
// public name is nobody's here.
type Chats interface {
	// MovedTo is the chat that took the place of this one, 0 if none did.
	MovedTo(chat int64) int64
	// Closed reports whether the chat is known, and confirmed, to be closed to the
	// bot, and what Telegram said.
	Closed(ctx context.Context, chat int64) (why string, closed bool)
	// Close marks a chat because a request that left at a time was answered so. A
	// sign of life from the chat that is newer than the request stands against it.
	Close(ctx context.Context, chat int64, why string, left time.Time)
	// Move notes the new id of a chat.
	Move(ctx context.Context, from, to int64)
	// Penalize notes a penalty that must outlast the budget's memory.
	Penalize(ctx context.Context, chat int64, method string, until time.Time)
}

// chatClosed is the end of a call to a chat that is known to be closed.
type chatClosed struct{ why string }

func (c *chatClosed) Error() string { return c.why }

// needsChat reports whether the call is of no use without its chat. Reads and
// answers to queries are: the one changes nothing, the other names no chat.
func (t *try) needsChat() bool {
	return t.Chats != nil && t.id != 0 && !t.method.Read && !t.method.Answer
}

// standing is why the call needs no request now: its chat has moved, or is
// closed. Nil when nothing is known.
func (t *try) standing(ctx context.Context) error {
	if to := t.knownMove(); to != 0 {
		return &MovedTo{To: to}
	}
	if !t.needsChat() {
		return nil
	}
	if why, closed := t.Chats.Closed(ctx, t.id); closed {
		return &chatClosed{why}
	}
	return nil
}

// knownMove is the chat that took the place of the call's, 0 for none.
func (t *try) knownMove() int64 {
	if !t.needsChat() {
		return 0
	}
	return t.Chats.MovedTo(t.id)
}

// closeChat marks the call's chat after Telegram said that it is closed.
func (t *try) closeChat(ctx context.Context, err error) {
	if !t.needsChat() || aboutAnother(err, t.params) {
		return
	}
	ctx, cancel := noted(ctx)
	defer cancel()
	t.Chats.Close(ctx, t.id, t.told(err), t.departed)
}

// aboutAnother reports whether the answer may be about a chat that the call only
// takes something from: "chat not found" does not say which one it was
// (tdlib/telegram-bot-api, Client.cpp, check_chat).
func aboutAnother(err error, params json.RawMessage) bool {
	te, ok := errors.AsType[*telegram.Error](err)
	if !ok || te.Code != http.StatusBadRequest {
		return false
	}
	var p struct {
		From  json.RawMessage `json:"from_chat_id"`
		Reply struct {
			Chat json.RawMessage `json:"chat_id"`
		} `json:"reply_parameters"`
	}
	_ = json.Unmarshal(params, &p) // what cannot be read names no chat
	return p.From != nil || p.Reply.Chat != nil
}

// noted bounds a note about a chat. What Telegram said is true even when the
// server has given the attempt up.
func noted(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), chatTimeout)
}
