package broadcast

import (
	"context"
	"errors"
	"time"

	"github.com/durabot/durabot/internal/contract"
)

// partsAhead is how many parts are read before they are shown.
const partsAhead = 4

// Row is one recipient of a broadcast. Outcome is that of the recipient, with the
// reason in place of "dead", and "pending" while there is none.
type Row struct {
	Chat              string    `json:"chat_id"`
	Outcome           string    `json:"outcome"`
	MessageID         string    `json:"message_id,omitempty"`
	Error             string    `json:"error,omitempty"`
	At                time.Time `json:"at,omitzero"`
	PossibleDuplicate bool      `json:"possible_duplicate,omitempty"`
	Degraded          bool      `json:"degraded,omitempty"`
	MovedTo           string    `json:"moved_to,omitempty"`
}

// Report shows every recipient, part by part, and holds a few parts in memory. It
// is complete when every part could tell what it knows: one that is open tells
// nothing while no process runs, and who had no outcome when its run began is
// pending. Of a part that was terminated they are uncertain.
// Its error may be ErrNone or ErrHalfStarted, or that of show, with which it ends.
func Report(ctx context.Context, c Client, bot int64, name string, show func(Row) error) (complete bool, err error) {
	in, err := input[contract.BroadcastInput](ctx, c, contract.BroadcastID(bot, name))
	if errors.Is(err, ErrNone) {
		return false, missing(ctx, c, bot, name)
	}
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := reader{client: c}
	part := func(n int) partRows { return r.read(ctx, contract.PartID(bot, name, n)) }
	complete = true
	for read := range readAhead(ctx, len(in.Sizes), part) {
		if read.err != nil {
			return false, read.err
		}
		complete = complete && read.complete
		for _, row := range read.rows {
			if err := show(row); err != nil {
				return false, err
			}
		}
	}
	return complete, ctx.Err()
}

// readAhead reads the parts from 1 to n side by side, and yields them in order.
func readAhead(ctx context.Context, n int, read func(n int) partRows) func(yield func(partRows) bool) {
	return func(yield func(partRows) bool) {
		queue := make(chan chan partRows, partsAhead-1)
		go func() {
			defer close(queue)
			for i := range n {
				one := make(chan partRows, 1)
				select {
				case queue <- one:
				case <-ctx.Done():
					return
				}
				go func() { one <- read(i + 1) }()
			}
		}()
		for one := range queue {
			if !yield(<-one) {
				return
			}
		}
	}
}
