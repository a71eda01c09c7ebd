package stats

import (
	"time"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

// Numbers are what tells a bot's health, as scripts read them: fields are added,
// never renamed. What only the process on duty knows is null while nobody is, or
// before it has told.
type Numbers struct {
	// InboxUnhandled counts the open updates whose handler's result is not
	// recorded; null where the namespace lacks our search attributes.
	InboxUnhandled *int64 `json:"inbox_unhandled"`
	// QueueDepth counts the accepted calls whose time has come and that have not
	// ended: updates that have been handled, messages, dead letters being replayed,
	// and the recipients without an outcome of the broadcasts that run.
	QueueDepth int64 `json:"queue_depth"`
	// Broadcasts counts the broadcasts that run, neither scheduled nor paused.
	Broadcasts int64 `json:"broadcasts"`
	// OldestPendingAge is how long the oldest of what waits has waited, in seconds; 0
	// for none. Dead letters do not count: they are older than their replay. Neither do
	// broadcasts: one of three hours is not a queue that is three hours late.
	OldestPendingAge int64 `json:"oldest_pending_age_s"`
	// DeadOpen counts the dead letters that wait for a person, DeadLast24h those
	// that were opened in the last 24 h.
	DeadOpen    int64 `json:"dead_open"`
	DeadLast24h int64 `json:"dead_last_24h"`
	// DeliveredLast24h counts delivered calls, to within ten minutes.
	DeliveredLast24h *int `json:"delivered_last_24h"`
	UnreachableChats *int `json:"unreachable_chats"`

	Limiter *contract.LimiterFigures `json:"limiter"`
	Duty    *Duty                    `json:"duty"`
	Paused  *contract.Pause          `json:"paused"`

	// Holder is where the last of these come from, for those who tell people more.
	Holder starter.Holder `json:"-"`
}

// Duty says which process talks to Telegram for the bot.
type Duty struct {
	// Holder is its Temporal identity.
	Holder string    `json:"holder"`
	Since  time.Time `json:"since"`
	// Address is that of its HTTP server, "" for none.
	Address string `json:"address"`
}
