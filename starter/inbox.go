package starter

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/durabot/durabot/internal/contract"
)

// parallelStarts bounds how many workflows of one batch, or of posts, are started
// at a time.
const parallelStarts = 16

// Settings are how updates are stored, and what is written into their inputs.
type Settings struct {
	BotID    int64
	Handling contract.Handling
	// MaxAge ends older updates as expired; 0 handles all of them. Payments and
	// my_chat_member are never too old.
	MaxAge time.Duration
	// Attributes is whether the namespace knows our search attributes.
	Attributes bool
	// NewIDs starts an update again under another ID when its update_id was used
	// for another update, however short ago: for a Bot API server that was wiped.
	NewIDs bool
	// Chats is told what an update says of its chat. Default nil: nobody is.
	Chats Marks
}

// Inbox stores updates: each becomes a workflow, once.
type Inbox struct {
	client   Client
	settings Settings
	tails    *Tails
	log      *slog.Logger
	counts   Counts
	now      func() time.Time
	lines    lines         // of posts, by ordering key
	starts   chan struct{} // of posts, under way
}

// NewInbox returns an inbox. It starts nothing yet.
func NewInbox(client Client, settings Settings, tails *Tails, counts Counts, log *slog.Logger) *Inbox {
	return &Inbox{client: client, settings: settings, tails: tails, counts: counts, log: log, now: time.Now, starts: make(chan struct{}, parallelStarts)}
}

// Marks is told of chats, each time before the workflow of the update that says
// so is started. What it is told again, by an update that is delivered again, it
// takes for news: at worst that is one request to a chat that is closed.
type Marks interface {
	// Seen is told that a chat is open to the bot.
	Seen(ctx context.Context, chat int64)
	// Move is told that a group has become a supergroup.
	Move(ctx context.Context, from, to int64)
}

// Counts is told what became of updates.
type Counts interface {
	// Stored is told the kind as the Bot API names it, "other" for one that is
	// newer than this, "" for none: few enough for a metric label.
	Stored(kind string)
	Duplicate()
	Undecodable()
}

// errNothingStored is a batch of which no element has an update_id: the offset
// cannot pass it, so asking again at once would spin.
var errNothingStored = errors.New("getUpdates brought elements without an update_id only")

// Store starts a workflow for each update of a batch: in parallel, but in order
// within an ordering key. It returns the offset of the first update that is not
// stored; everything below it may be confirmed. For an empty batch that is the
// offset it was given; otherwise it is taken from the batch alone, because after
// a quiet week update_ids go on at random and may be lower than before (Bot API,
// "Update"). The error is that of a start which failed; an element without an
// update_id is logged and passed over.
func (b *Inbox) Store(ctx context.Context, batch []json.RawMessage, offset int64) (int64, error) {
	if len(batch) == 0 {
		return offset, nil
	}
	next := int64(0)
	var rows [][]entry
	index := map[string]int{}
	for _, raw := range batch {
		e, err := b.read(ctx, raw)
		if err != nil {
			b.counts.Undecodable()
			b.log.WarnContext(ctx, "passed over an element of getUpdates that has no update_id", "bytes", len(raw))
			continue
		}
		next = max(next, e.UpdateID+1)
		if i, ok := index[e.OrderKey]; ok && e.OrderKey != "" {
			rows[i] = append(rows[i], e)
			continue
		}
		index[e.OrderKey] = len(rows)
		rows = append(rows, []entry{e})
	}
	if len(rows) == 0 {
		return offset, errNothingStored
	}
	lowest, err := b.startRows(ctx, rows)
	return min(next, lowest), err
}

type entry struct {
	Route
	raw  json.RawMessage
	dead contract.Reason
}

// read returns ErrNoUpdateID for what cannot be stored under a name.
func (b *Inbox) read(ctx context.Context, raw json.RawMessage) (entry, error) {
	route, err := ParseRoute(raw)
	switch {
	case errors.Is(err, ErrNoUpdateID):
		return entry{}, err
	case err != nil:
		b.counts.Undecodable()
		b.log.WarnContext(ctx, "update is not of its kind's shape: kept as a failed workflow", "update_id", route.UpdateID)
		return entry{Route: route, raw: raw, dead: contract.ReasonUndecodable}, nil
	case len(raw) > maxPayload:
		b.log.WarnContext(ctx, "update is too large for Temporal: kept as a failed workflow", "update_id", route.UpdateID, "bytes", len(raw))
		return entry{Route: route, raw: tooLarge(route, len(raw)), dead: contract.ReasonTooLarge}, nil
	}
	return entry{Route: route, raw: raw}, nil
}

// startRows starts each row in order and stops it at its first failure: a later
// update of a chat must not get ahead of one that is not stored.
func (b *Inbox) startRows(ctx context.Context, rows [][]entry) (lowest int64, err error) {
	lowest = math.MaxInt64
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(parallelStarts)
	for _, row := range rows {
		g.Go(func() error {
			left, err := b.startRow(ctx, row)
			mu.Lock()
			defer mu.Unlock()
			for _, e := range left { // not always sorted: ids may start over
				lowest = min(lowest, e.UpdateID)
			}
			return err
		})
	}
	err = g.Wait()
	return lowest, err
}

// startRow returns what is left of the row at its first failure.
func (b *Inbox) startRow(ctx context.Context, row []entry) ([]entry, error) {
	for i, e := range row {
		b.tell(ctx, e.Route)
		if err := b.start(ctx, e); err != nil {
			return row[i:], err
		}
	}
	return nil, nil
}

// tell says what the update shows of its chat.
func (b *Inbox) tell(ctx context.Context, r Route) {
	chats := b.settings.Chats
	if chats == nil || !r.own() {
		return
	}
	if !r.BotOut {
		chats.Seen(ctx, r.ChatID)
	}
	if r.MigratedTo != 0 {
		chats.Move(ctx, r.ChatID, r.MigratedTo)
	}
	if r.MigratedFrom != 0 {
		chats.Move(ctx, r.MigratedFrom, r.ChatID)
	}
}
