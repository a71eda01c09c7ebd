package stats

import (
	"log/slog"

	"github.com/durabot/durabot/internal/contract"
)

// Attrs are the numbers as one line of a log has them: flat, without what nobody
// knows, and of penalties and learned rates how many there are.
func (n Numbers) Attrs() []slog.Attr {
	var all []slog.Attr
	if n.InboxUnhandled != nil {
		all = append(all, slog.Int64("inbox_unhandled", *n.InboxUnhandled))
	}
	all = append(all,
		slog.Int64("queue_depth", n.QueueDepth), slog.Int64("broadcasts", n.Broadcasts), slog.Int64("oldest_pending_age_s", n.OldestPendingAge),
		slog.Int64("dead_open", n.DeadOpen), slog.Int64("dead_last_24h", n.DeadLast24h),
		slog.Bool("paused", n.Paused != nil),
	)
	if n.Limiter == nil {
		return all
	}
	l := n.Limiter
	return append(all,
		slog.Int("delivered_last_24h", *n.DeliveredLast24h), slog.Int("unreachable_chats", *n.UnreachableChats),
		slog.Int("tokens", l.Tokens), slog.Int("in_air", l.InAir),
		slog.Int("waiting_urgent", l.Waiting[contract.Urgent]), slog.Int("waiting_normal", l.Waiting[contract.Normal]),
		slog.Int("waiting_bulk", l.Waiting[contract.Bulk]),
		slog.Int("penalties", len(l.Penalties)), slog.Int("learned", len(l.Learned)), slog.Any("held", l.Held),
	)
}
