package activities_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"github.com/durabot/durabot/internal/contract"
)

// life is one process: it is killed at a request, whose answer and those in the
// air are lost, and of which nobody hears any more.
type life struct {
	mu   sync.Mutex
	rng  *rand.Rand
	left int // requests until it is killed
	dead bool
}

func (l *life) answer(_ context.Context, _ string, _ int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return refused // it makes no more
	}
	if l.left--; l.left == 0 {
		l.dead = true
	}
	outcome, latency := l.rng.IntN(20), time.Duration(l.rng.IntN(400))*time.Millisecond
	l.mu.Unlock()
	time.Sleep(latency)
	l.mu.Lock()
	if l.dead {
		outcome = l.rng.IntN(2) // the answer is lost
	}
	switch outcome {
	case 0:
		return delivered{reset}
	case 1:
		return reset
	case 2:
		return limited(time.Duration(1+l.rng.IntN(60)) * time.Second)
	case 3:
		return page(502)
	case 4:
		return answered(403, "Forbidden: bot was blocked by the user")
	default:
		return nil
	}
}

func (l *life) write(contract.BatchLedger) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.dead:
		return serviceerror.NewNotFound("given up")
	case l.rng.IntN(15) == 0:
		return errAway
	default:
		return nil
	}
}

func TestWhateverBreaksEachRecipientHasOneOutcomeAndUnflaggedOneCopy(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test's dice
			m := newMailing(t)
			in := news(30)
			if seed%2 == 0 {
				in.What.Call.Delivery = contract.AtLeastOnce
			}
			ended := map[string]contract.RecipientResult{}
			for rest := in; len(rest.Recipients) > 0; {
				l := &life{rng: rng, left: rng.IntN(60)}
				m.api.answer, m.server.fail, m.server.ledgers = l.answer, l.write, nil
				res, err := m.process(t).send(t, rest)
				results, next := res.Results, rest
				next.Recipients = res.Left
				if err != nil {
					results, next = m.server.last().Results, inDoubt(rest, m.server.last())
				}
				for _, r := range results {
					_, twice := ended[r.Chat]
					require.False(t, twice, "seed %d: chat %s has two outcomes", seed, r.Chat)
					ended[r.Chat] = r
				}
				rest = next
			}
			require.Len(t, ended, len(in.Recipients))
			for chat, r := range ended {
				copies := m.api.got[chat]
				if copies > 1 {
					require.True(t, r.PossibleDuplicate, "seed %d: chat %s has %d copies unflagged", seed, chat, copies)
					require.Equal(t, contract.AtLeastOnce, in.What.Call.Delivery, "seed %d", seed)
				}
				require.False(t, r.Outcome == contract.Delivered && copies == 0, "seed %d: chat %s got nothing", seed, chat)
			}
		})
	}
}
