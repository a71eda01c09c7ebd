package stats

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/sync/errgroup"

	"github.com/durabot/durabot/internal/broadcast"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

const (
	day = 24 * time.Hour
	// requestsMost is how many requests an answer takes at most, and requestsFixed how
	// many of them neither the broadcasts nor the search for the oldest need.
	requestsMost  = 20
	requestsFixed = 5
	// partsMost is how many parts of broadcasts are looked at, and partsWithSearch how
	// many when many requests are needed for the oldest.
	partsMost       = 12
	partsWithSearch = 2
)

// Client is the part of a Temporal client that is asked.
type Client interface {
	starter.Client
	CountWorkflow(ctx context.Context, r *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error)
}

// Ask asks Temporal for a bot's numbers, right to within two seconds, by at most
// 20 requests. While more than twelve parts of broadcasts are under way, or more
// than two and more than 100 other calls wait, what the open batches of those parts
// have done still counts as waiting, 500 recipients of a part at most.
//
// Attributes is whether the namespace knows our search attributes. Without them
// every open update counts as a call that waits, handled or not, and a dead letter
// that is being replayed does not.
func Ask(ctx context.Context, c Client, namespace string, bot int64, attributes bool) (Numbers, error) {
	a := asker{client: c, namespace: namespace, queries: queries{bot, attributes}}
	var n Numbers
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		n.Holder, err = starter.DutyHolder(ctx, c, bot)
		return err
	})
	now := time.Now()
	g.Go(func() error { return a.queued(ctx, now, &n) })
	if attributes {
		n.InboxUnhandled = new(int64)
		a.counted(ctx, g, a.unhandled(), n.InboxUnhandled)
	}
	a.counted(ctx, g, a.open(contract.DeadLetterWorkflow), &n.DeadOpen)
	a.counted(ctx, g, a.deadSince(now.Add(-day)), &n.DeadLast24h)
	if err := g.Wait(); err != nil {
		return Numbers{}, err
	}
	n.tellDuty()
	return n, nil
}

// asker asks about one bot.
type asker struct {
	queries
	client    Client
	namespace string
}

// queued counts what waits and finds out for how long.
func (a asker) queued(ctx context.Context, now time.Time, n *Numbers) error {
	depth, err := a.count(ctx, a.waiting(now))
	if err != nil {
		return err
	}
	parts := partsMost
	if depth > listMost {
		parts = partsWithSearch
	}
	b, err := broadcast.Wait(ctx, a.client, a.bot, parts)
	n.Broadcasts, n.QueueDepth = b.Broadcasts, depth+b.Recipients
	if err != nil || depth == 0 {
		return err
	}
	age, err := a.oldest(ctx, now, depth, requestsMost-requestsFixed-b.Requests)
	if err != nil {
		return fmt.Errorf("look for the oldest that waits: %w", err)
	}
	n.OldestPendingAge = int64(age.Round(time.Second) / time.Second)
	return nil
}

func (a asker) counted(ctx context.Context, g *errgroup.Group, query string, into *int64) {
	g.Go(func() (err error) {
		*into, err = a.count(ctx, query)
		return err
	})
}

func (a asker) count(ctx context.Context, query string) (int64, error) {
	res, err := a.client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: a.namespace, Query: query})
	if err != nil {
		return 0, fmt.Errorf("count workflows: %w", err)
	}
	return res.GetCount(), nil
}
