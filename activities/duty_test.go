package activities_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

// holder is a process that may hold the duty, with the server that it tells so.
type holder struct {
	activities.Duty
	term  *fakeTerm
	begun []activities.TermInput
	lease *activities.Lease
	log   bytes.Buffer
	start time.Time

	mu      sync.Mutex
	beats   []contract.Beat
	at      []time.Duration // when they were taken, since the start
	refuses func(ctx context.Context) error
}

func newHolder() *holder {
	p := &holder{term: newTerm(), start: time.Now()}
	p.Recorder, p.Log = p, slog.New(slog.NewTextHandler(&p.log, nil))
	p.Begin = func(_ context.Context, in activities.TermInput) (activities.Term, error) {
		p.begun, p.lease = append(p.begun, in), in.Lease
		return p.term, nil
	}
	return p
}

func (p *holder) RecordActivityHeartbeat(ctx context.Context, _ []byte, details ...any) error {
	p.mu.Lock()
	refuses := p.refuses
	p.mu.Unlock()
	if refuses != nil {
		if err := refuses(ctx); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.beats, p.at = append(p.beats, details[0].(contract.Beat)), append(p.at, time.Since(p.start))
	return nil
}

func (p *holder) refuse(with func(ctx context.Context) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuses = with
}

func always(err error) func(context.Context) error {
	return func(context.Context) error { return err }
}

// hold runs one attempt of HoldDuty; details are those of an earlier one. The
// test environment gives an activity less time than a term may last, so it runs
// outside, with the context of one.
func (p *holder) hold(t *testing.T, in contract.HoldInput, details any) (contract.Handover, error) {
	t.Helper()
	var outside context.Context
	inActivity(t, &attempt{n: 1, details: details}, func(ctx context.Context) {
		outside = context.WithoutCancel(ctx)
	})
	return p.HoldDuty(outside, in)
}

// fakeTerm is a term whose state counts how often it was asked for.
type fakeTerm struct {
	mu     sync.Mutex
	asked  int
	ended  int
	state  json.RawMessage
	urgent chan struct{}
	over   chan struct{}
	ending time.Duration
}

func newTerm() *fakeTerm {
	return &fakeTerm{state: json.RawMessage(`"mine"`), urgent: make(chan struct{}, 1), over: make(chan struct{})}
}

func (f *fakeTerm) Beat() contract.Beat {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	return contract.Beat{Handover: contract.Handover{Clean: true, Limiter: f.state}, Address: "here"}
}

func (f *fakeTerm) Urgent() <-chan struct{} { return f.urgent }
func (f *fakeTerm) Over() <-chan struct{}   { return f.over }

func (f *fakeTerm) End() contract.Handover {
	time.Sleep(f.ending)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended++
	return contract.Handover{Limiter: json.RawMessage(`"last"`), Tails: []contract.Tail{{Key: "42"}}}
}

// inherited is what a predecessor left.
func inherited(clean bool) *contract.Handover {
	return &contract.Handover{Clean: clean, Limiter: json.RawMessage(`"theirs"`), Tails: []contract.Tail{{Key: "7"}}}
}

func TestATermThatIsOverHandsOverCleanly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newHolder()
		p.term.ending = 20 * time.Second
		time.AfterFunc(time.Minute, func() { close(p.term.over) })
		out, err := p.hold(t, contract.HoldInput{}, nil)
		require.NoError(t, err)
		require.Equal(t, contract.Handover{
			Clean: true, Limiter: json.RawMessage(`"last"`), Tails: []contract.Tail{{Key: "42"}},
		}, out)
		require.Equal(t, 80*time.Second, time.Since(p.start))
		require.GreaterOrEqual(t, p.at[len(p.at)-1], 77*time.Second, "heartbeats go on through the end")
		require.False(t, p.lease.Fresh(time.Hour), "nothing is sent after it")
		require.Equal(t, 1, p.term.ended)
	})
}

func TestATermEndsByItselfAfterADay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newHolder()
		out, err := p.hold(t, contract.HoldInput{}, nil)
		require.NoError(t, err)
		require.True(t, out.Clean)
		require.Equal(t, 24*time.Hour, time.Since(p.start))
	})
}

func TestTheDutyIsToldEveryThreeSecondsAndNeverAsClean(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newHolder()
		time.AfterFunc(10*time.Second, func() { close(p.term.over) })
		_, err := p.hold(t, contract.HoldInput{Handover: inherited(true)}, nil)
		require.NoError(t, err)
		const s = time.Second
		require.Equal(t, []time.Duration{0, 0, 3 * s, 6 * s, 9 * s}, p.at)
		for _, b := range p.beats {
			require.False(t, b.Handover.Clean, "something may be sent after it")
			require.True(t, b.Since.Equal(p.start))
		}
		require.Equal(t, "here", p.beats[1].Address)
		require.JSONEq(t, `"mine"`, string(p.beats[1].Handover.Limiter))
	})
}

func TestTheFirstHeartbeatKeepsWhatWasInheritedAndComesBeforeTheTerm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newHolder()
		begin := p.Begin
		p.Begin = func(ctx context.Context, in activities.TermInput) (activities.Term, error) {
			require.Len(t, p.beats, 1)
			require.True(t, in.Lease.Fresh(activities.PollLease))
			return begin(ctx, in)
		}
		close(p.term.over)
		_, err := p.hold(t, contract.HoldInput{Handover: inherited(true)}, nil)
		require.NoError(t, err)
		require.JSONEq(t, `"theirs"`, string(p.beats[0].Handover.Limiter))
		require.Len(t, p.begun, 1)
	})
}

func TestATermThatTakesLongToBeginKeepsTheDuty(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newHolder()
		begin := p.Begin
		p.Begin = func(ctx context.Context, in activities.TermInput) (activities.Term, error) {
			time.Sleep(time.Minute)
			require.True(t, in.Lease.Fresh(activities.PollLease))
			return begin(ctx, in)
		}
		close(p.term.over)
		_, err := p.hold(t, contract.HoldInput{Handover: inherited(true)}, nil)
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(p.beats), 20)
		require.JSONEq(t, `"theirs"`, string(p.beats[19].Handover.Limiter))
	})
}

func TestATermBeginsWithWhatTheLastHolderLeft(t *testing.T) {
	t.Parallel()
	last := contract.Beat{Handover: contract.Handover{Limiter: json.RawMessage(`"newer"`)}}
	begun := contract.Beat{Handover: contract.Handover{Limiter: json.RawMessage(`"newer"`), Tails: []contract.Tail{{Key: "7"}}}}
	given := contract.Beat{Handover: *inherited(true)}
	died := func(state string) *contract.Handover { return &contract.Handover{Limiter: json.RawMessage(state)} }
	for name, c := range map[string]struct {
		in      *contract.Handover
		details any
		from    *contract.Handover
		killed  bool
	}{
		"nobody before":                {nil, nil, nil, false},
		"ended in order":               {inherited(true), nil, inherited(true), false},
		"ended without order":          {inherited(false), nil, died(`"theirs"`), true},
		"killed in this activity":      {inherited(true), last, died(`"newer"`), true},
		"killed before the term began": {inherited(true), begun, died(`"newer"`), true},
		"given back before it began":   {nil, given, inherited(true), false},
		"a state of another version":   {inherited(true), "?", died(`"theirs"`), true},
		"the same without a handover":  {nil, "?", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newHolder()
				close(p.term.over)
				_, err := p.hold(t, contract.HoldInput{Handover: c.in}, c.details)
				require.NoError(t, err)
				require.Equal(t, c.from, p.begun[0].From)
				require.Equal(t, c.killed, p.begun[0].Killed)
			})
		})
	}
}

func TestAPenaltyIsToldAtOnceButNotMoreOftenThanTenTimesASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newHolder()
		go func() {
			time.Sleep(time.Second)
			for range 60 { // for 300 ms
				select {
				case p.term.urgent <- struct{}{}:
				default:
				}
				time.Sleep(5 * time.Millisecond)
			}
			time.Sleep(100 * time.Millisecond)
			close(p.term.over)
		}()
		_, err := p.hold(t, contract.HoldInput{}, nil)
		require.NoError(t, err)
		require.Equal(t, time.Second, p.at[2], "at once")
		require.GreaterOrEqual(t, len(p.at), 5)
		for i, at := range p.at[2:] {
			require.GreaterOrEqual(t, at-p.at[i+1], 100*time.Millisecond)
		}
	})
}

func TestALostDutyEndsTheLeaseAtOnce(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]error{
		"given to another":  serviceerror.NewNotFound("activity task not found"),
		"namespace deleted": serviceerror.NewNamespaceNotFound("bots"),
		"cancelled":         temporal.NewCanceledError(),
		"paused":            activity.ErrActivityPaused,
		"reset":             activity.ErrActivityReset,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newHolder()
				p.term.ending = 10 * time.Second
				time.AfterFunc(10*time.Second, func() {
					require.True(t, p.lease.Fresh(activities.SendLease))
					p.refuse(always(lost))
				})
				time.AfterFunc(12001*time.Millisecond, func() { require.False(t, p.lease.Fresh(time.Hour)) })
				out, err := p.hold(t, contract.HoldInput{}, nil)
				require.Equal(t, 22*time.Second, time.Since(p.start))
				require.Equal(t, 1, p.term.ended)
				require.False(t, out.Clean)
				require.False(t, direct(t, err).NonRetryable())
				require.NotErrorIs(t, err, context.Canceled)
			})
		})
	}
}

func TestADutyThatIsLostDuringTheEndOfATermEndsTheLeaseToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newHolder()
		p.term.ending = 10 * time.Second
		close(p.term.over)
		time.AfterFunc(2*time.Second, func() { p.refuse(always(serviceerror.NewNotFound("activity task not found"))) })
		time.AfterFunc(3001*time.Millisecond, func() { require.False(t, p.lease.Fresh(time.Hour)) })
		_, err := p.hold(t, contract.HoldInput{}, nil)
		require.NoError(t, err, "the server knows whose result counts")
	})
}

func TestAnActivityThatIsCutLetsTheDutyGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newHolder()
		p.term.ending = 10 * time.Second
		time.AfterFunc(10001*time.Millisecond, func() { require.False(t, p.lease.Fresh(time.Hour)) })
		inActivity(t, &attempt{n: 1}, func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			_, err := p.HoldDuty(ctx, contract.HoldInput{})
			require.False(t, direct(t, err).NonRetryable())
			require.NotErrorIs(t, err, context.DeadlineExceeded, "the server refuses the error of the context")
		})
		require.Equal(t, 1, p.term.ended)
		require.Equal(t, 18*time.Second, p.at[len(p.at)-1], "no other begins before this one has ended")
	})
}

func TestALeaseCountsFromTheSendingOfAHeartbeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newHolder()
		p.refuse(func(context.Context) error {
			time.Sleep(1500 * time.Millisecond)
			p.refuse(always(errAway))
			return nil
		})
		time.AfterFunc(12*time.Second-1, func() { require.True(t, p.lease.Fresh(activities.SendLease)) })
		time.AfterFunc(12*time.Second, func() {
			require.False(t, p.lease.Fresh(activities.SendLease))
			close(p.term.over)
		})
		_, err := p.hold(t, contract.HoldInput{}, nil)
		require.NoError(t, err)
	})
}

func TestAnOutageOfTemporalLetsTheLeaseRunOutAndIsLoggedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newHolder()
		hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		time.AfterFunc(10*time.Second, func() { p.refuse(hang) }) // the last one was at 9 s
		time.AfterFunc(21*time.Second-1, func() { require.True(t, p.lease.Fresh(activities.SendLease)) })
		time.AfterFunc(21*time.Second, func() { require.False(t, p.lease.Fresh(activities.SendLease)) })
		time.AfterFunc(40*time.Second, func() { p.refuse(nil) })
		time.AfterFunc(44*time.Second, func() {
			require.True(t, p.lease.Fresh(activities.SendLease), "each heartbeat ends within its deadline, and the next is tried")
			p.refuse(always(errAway))
		})
		time.AfterFunc(time.Minute, func() { close(p.term.over) })
		_, err := p.hold(t, contract.HoldInput{}, nil)
		require.NoError(t, err)
		require.Equal(t, 2, bytes.Count(p.log.Bytes(), []byte("msg=")), "once for each row")
	})
}

func TestNoTermBeginsBeforeTheServerKnows(t *testing.T) {
	t.Parallel()
	p := newHolder()
	p.refuse(always(errAway))
	_, err := p.hold(t, contract.HoldInput{}, nil)
	require.False(t, direct(t, err).NonRetryable())
	require.Empty(t, p.begun)
}

func TestATermThatCannotBeginLeavesTheNextWhatItFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from *contract.Handover
		left contract.Handover
	}{
		"after an orderly end": {inherited(true), *inherited(true)},
		"after a kill":         {inherited(false), contract.Handover{Limiter: json.RawMessage(`"theirs"`)}},
		"after nobody":         {nil, contract.Handover{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newHolder()
			p.Begin = func(context.Context, activities.TermInput) (activities.Term, error) {
				return nil, errors.New("workers do not start")
			}
			_, err := p.hold(t, contract.HoldInput{Handover: c.from}, nil)
			require.False(t, direct(t, err).NonRetryable())
			require.Contains(t, err.Error(), "workers do not start")
			require.Equal(t, c.left, p.beats[len(p.beats)-1].Handover)
		})
	}
}

func TestAProcessThatStopsPassesOnWhatItFound(t *testing.T) {
	t.Parallel()
	for _, clean := range []bool{true, false} {
		p := newHolder()
		p.Begin = func(context.Context, activities.TermInput) (activities.Term, error) {
			return nil, activities.ErrStopping
		}
		out, err := p.hold(t, contract.HoldInput{Handover: inherited(clean)}, nil)
		require.NoError(t, err)
		require.Equal(t, clean, out.Clean)
		require.JSONEq(t, `"theirs"`, string(out.Limiter))
	}
}

func TestABigStateIsReportedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newHolder()
		p.term.state = make(json.RawMessage, 1<<20+1)
		time.AfterFunc(time.Minute, func() { close(p.term.over) })
		_, err := p.hold(t, contract.HoldInput{}, nil)
		require.NoError(t, err)
		require.Equal(t, 1, bytes.Count(p.log.Bytes(), []byte("bytes=1048577")))
		require.Len(t, p.beats[5].Handover.Limiter, 1<<20+1, "and sent all the same")
	})
}

// Two processes hold one activity: the server hears only the newer attempt.
func TestOfTwoHoldersTheOlderLetsGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		older, newer := newHolder(), newHolder()
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := older.hold(t, contract.HoldInput{}, nil)
			require.Error(t, err)
		})
		time.Sleep(20 * time.Second)
		synctest.Wait()
		older.refuse(always(serviceerror.NewNotFound("activity task not found")))
		wg.Go(func() {
			_, err := newer.hold(t, contract.HoldInput{}, older.beats[len(older.beats)-1])
			require.NoError(t, err)
		})
		time.Sleep(4 * time.Second)
		require.False(t, older.lease.Fresh(time.Hour))
		require.True(t, newer.lease.Fresh(activities.SendLease))
		require.True(t, newer.begun[0].Killed)
		close(newer.term.over)
		wg.Wait()
	})
}
