package e2e_test

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
)

const (
	// lookEvery is between two looks at whether the machine stands still.
	lookEvery = 100 * time.Millisecond
	// stallLeast is a look that takes so long that it counts as a stall.
	stallLeast = time.Second
)

// stalls are the times at which the machine, or the shared Temporal server on
// it, stood still. A promise about how soon something happens is not about
// those: nothing that durabot does could have kept it.
type stalls struct {
	mu  sync.Mutex
	all []stall
}

type stall struct{ from, to time.Time }

// watch looks at a Temporal server until ctx ends: a read of its database, after
// a sleep, which both take a moment where nothing stands still.
func (s *stalls) watch(ctx context.Context, c client.Client) {
	for ctx.Err() == nil {
		from := time.Now()
		time.Sleep(lookEvery)
		_, err := c.DescribeWorkflow(ctx, "stalls", "")
		_, absent := errors.AsType[*serviceerror.NotFound](err)
		if to := time.Now(); !absent || to.Sub(from) > stallLeast {
			s.add(from, to)
		}
	}
}

func (s *stalls) add(from, to time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, stall{from, to})
}

// between is how long everything stood still from one time to another.
func (s *stalls) between(from, to time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sum time.Duration
	for _, at := range s.all {
		begin, end := at.from, at.to
		if begin.Before(from) {
			begin = from
		}
		if end.After(to) {
			end = to
		}
		sum += max(0, end.Sub(begin))
	}
	return sum
}

// inTime checks that what began at one time was there at another, within the time
// that the design promises.
func (w *world) inTime(from, at time.Time, promise time.Duration) {
	w.t.Helper()
	still := shared.stalls.between(from, at)
	require.Less(w.t, at.Sub(from), promise+still, "the machine stood still for %v of it", still)
}

func TestStallsAreTakenOffAsFarAsTheyWereInTheTime(t *testing.T) {
	t.Parallel()
	zero := time.Now()
	at := func(s int) time.Time { return zero.Add(time.Duration(s) * time.Second) }
	var s stalls
	s.add(at(0), at(4))
	s.add(at(10), at(12))
	s.add(at(19), at(30))
	require.Equal(t, 4*time.Second, s.between(at(3), at(20)))
	require.Zero(t, s.between(at(5), at(9)))
}

func TestStallsAServerThatStandsStillIsSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := w.ownServer()
	defer server.Stop()
	var s stalls
	go s.watch(t.Context(), w.temporal)
	froze := time.Now()
	require.NoError(t, syscall.Kill(server.Pid(), syscall.SIGSTOP))
	w.pass(froze.Add(2 * time.Second))
	require.NoError(t, syscall.Kill(server.Pid(), syscall.SIGCONT))
	w.eventually("it is noted", func() bool { return s.between(froze, time.Now()) > 1500*time.Millisecond })
}
