package starter

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/durabot/durabot/internal/contract"
)

// lastingPenalty is how long a penalty lasts that outlives this process.
const lastingPenalty = 30 * time.Second

// Chats knows which chats are closed to the bot, and which have moved. It is a
// memory in front of the chats' workflows, in which the marks outlive the
// process; a chat about which nothing is has none, and costs no request.
//
// A mark is a hint: before a call is ended for it, Temporal is asked, and where
// Temporal gives no answer, the call is sent. An update from a chat takes its
// closed mark back, and a request that left before that update does not set it
// again, in whatever order the two are heard of.
//
// Its methods may be called from many goroutines. None of them holds up another.
type Chats struct {
	store chatStore
	log   *slog.Logger

	mu    sync.Mutex
	marks chatMarks
}

// NewChats returns a table that is empty but for what it is told. Attributes is
// whether the namespace knows our search attributes.
func NewChats(client ChatClient, bot int64, attributes bool, log *slog.Logger) *Chats {
	return &Chats{store: chatStore{client: client, bot: bot, attributes: attributes}, log: log, marks: newChatMarks()}
}

// Load adds the marks that Temporal holds. Marks made since win over them.
// Penalize is told of every penalty in force, at least once, and moved of every
// chat that has moved, and where to in the end. It takes over a second, and what
// it is late for costs a request. It may be called again after an error.
func (c *Chats) Load(ctx context.Context, penalize func(chat int64, method string, until time.Time), moved func(from, to int64)) error {
	c.with(func(m *chatMarks) { m.loaded = false })
	err := eachOpen(ctx, c.store.client, contract.ChatWorkflow, c.store.bot, func(info *workflowpb.WorkflowExecutionInfo) {
		var s contract.ChatState
		memoInto(info.GetMemo(), contract.MemoState, &s)
		c.with(func(m *chatMarks) { m.learn(s) })
		for _, p := range s.Penalties {
			if p.Until.After(time.Now()) {
				penalize(s.ChatID, p.Method, p.Until)
			}
		}
	})
	if err != nil {
		return fmt.Errorf("list marked chats: %w", err)
	}
	var voids map[int64]time.Time
	var moves chatMoves
	c.with(func(m *chatMarks) {
		m.loaded = true
		voids, moves = m.voids(), maps.Clone(m.moved)
	})
	for from := range moves {
		if to := c.MovedTo(from); to != 0 {
			moved(from, to)
		}
	}
	for chat, before := range voids {
		c.clear(ctx, chat, before)
	}
	return nil
}

// Restore adds the marks of a hand-over.
func (c *Chats) Restore(states []contract.ChatState) {
	c.with(func(m *chatMarks) {
		for _, s := range states {
			m.learn(s)
		}
	})
}

// Recent are the marks of the last minute, at most a thousand, for a hand-over:
// a list may not show them yet.
func (c *Chats) Recent() (all []contract.ChatState) {
	c.with(func(m *chatMarks) { all = m.latest(time.Now()) })
	return all
}

// Unreachable counts the chats that are known to be closed to the bot.
func (c *Chats) Unreachable() (n int) {
	c.with(func(m *chatMarks) { n = len(m.closed) })
	return n
}

// Seen is called when an update came from the chat, before its turn: the closed
// mark is void from then on. Where there was one, Seen returns when Temporal has
// heard of it, or after 3 s; if it has not, the chat's next update, and the next
// Load, tell it again.
func (c *Chats) Seen(ctx context.Context, chat int64) {
	var before time.Time
	var marked bool
	c.with(func(m *chatMarks) { before, marked = m.see(chat, time.Now()) })
	if marked {
		c.clear(ctx, chat, before)
	}
}

// Closed reports whether the chat is closed to the bot, and why. Temporal has
// confirmed that within the last 5 s.
func (c *Chats) Closed(ctx context.Context, chat int64) (why string, closed bool) {
	var mark closedMark
	c.with(func(m *chatMarks) { mark, closed = m.standing(chat) })
	if !closed || time.Since(mark.confirmed) < trusted {
		return mark.Why, closed
	}
	found, err := c.store.state(ctx, chat)
	if err != nil {
		c.log.WarnContext(ctx, "mark of a chat cannot be confirmed: the chat counts as open", "chat", chat, "error", err)
		return "", false
	}
	c.with(func(m *chatMarks) { why, closed = m.confirm(chat, mark, found.Closed, time.Now()) })
	return why, closed
}

// Close marks a chat as closed to the bot: so was answered, for the reason, a
// request that left at the given time. An update that came since makes it void.
func (c *Chats) Close(ctx context.Context, chat int64, why string, left time.Time) {
	mark := closedMark{ChatClosed: contract.ChatClosed{Why: why, Since: left}, confirmed: time.Now()}
	news := false
	c.with(func(m *chatMarks) {
		known, ok := m.standing(chat)
		fresh := ok && time.Since(known.confirmed) < trusted
		news = !m.void(chat, left) && m.close(chat, mark) && !fresh
	})
	if !news {
		return
	}
	c.mark(ctx, chat, contract.ChatMark{Closed: &mark.ChatClosed})
	var before time.Time
	void := false
	c.with(func(m *chatMarks) {
		if void = m.void(chat, left); void { // an update came meanwhile, and its clear before this mark
			m.close(chat, mark)
			before = m.seen[chat]
		}
	})
	if void {
		c.clear(context.WithoutCancel(ctx), chat, before)
	}
}

// MovedTo is the chat that has taken this one's place, 0 when it did not move.
func (c *Chats) MovedTo(chat int64) (to int64) {
	c.with(func(m *chatMarks) { to = m.moved.end(chat) })
	if to == chat {
		return 0
	}
	return to
}

// Move notes that a group has become a supergroup. Moves in a circle end where
// the newest of them leads.
func (c *Chats) Move(ctx context.Context, from, to int64) {
	if from == 0 || to == 0 || from == to {
		return
	}
	mark, news := contract.ChatMoved{To: to, Since: time.Now()}, false
	c.with(func(m *chatMarks) { news = !m.moved.knows(from, to) && m.move(from, mark) })
	if news {
		c.mark(ctx, from, contract.ChatMark{Moved: &mark})
	}
}

// Penalize keeps a penalty that lasts over 30 s, for the next process: this one
// has it in its budget. Method is "" for all methods.
func (c *Chats) Penalize(ctx context.Context, chat int64, method string, until time.Time) {
	if chat != 0 && time.Until(until) > lastingPenalty {
		c.mark(ctx, chat, contract.ChatMark{Penalties: []contract.ChatPenalty{{Method: method, Until: until}}})
	}
}

// mark outlives ctx by a little: the answer that it tells of was given.
func (c *Chats) mark(ctx context.Context, chat int64, mark contract.ChatMark) {
	ctx = context.WithoutCancel(ctx)
	if err := c.store.mark(ctx, chat, mark); err != nil {
		c.log.WarnContext(ctx, "mark of a chat is not stored: it is known in this process only", "chat", chat, "error", err)
	}
}

func (c *Chats) clear(ctx context.Context, chat int64, before time.Time) {
	err := c.store.clear(ctx, chat, before)
	if err != nil && ctx.Err() == nil {
		c.log.WarnContext(ctx, "mark of a chat that is open is not taken back yet", "chat", chat, "error", err)
	}
	if err == nil {
		c.with(func(m *chatMarks) { m.cleared(chat, before) })
	}
}

// with runs a step on the marks. Requests are made outside of it.
func (c *Chats) with(step func(*chatMarks)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	step(&c.marks)
}
