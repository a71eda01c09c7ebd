package worker_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

func TestTheDutyIsAskedForUntilTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log journal
		p, _ := newProcess(t, &server{}, &log, nil)
		ctx, cancel := context.WithCancel(t.Context())
		go p.Seek(ctx, func() sdkworker.Worker { return &staff{name: "duty", log: &log} })
		time.Sleep(time.Hour)
		require.Equal(t, []string{"start duty"}, log.read())
		cancel()
		synctest.Wait()
		require.Equal(t, []string{"start duty", "stop duty"}, log.read())
	})
}

func TestAfterARefusedTokenTheDutyIsAskedForOnlyWhenItIsGoodAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log journal
		var good atomic.Bool
		var asked atomic.Int64
		p, _ := newProcess(t, &server{}, &log, func(context.Context) error {
			asked.Add(1)
			if good.Load() {
				return nil
			}
			return errRefused
		})
		go p.Seek(t.Context(), func() sdkworker.Worker { return &staff{name: "duty", log: &log} })
		synctest.Wait()
		term := p.NewTerm(nil, func(context.Context) {}, func() {})
		term.Unauthorized(true)
		synctest.Wait()
		require.Equal(t, []string{"start duty", "stop duty"}, log.read())
		time.Sleep(10 * time.Minute)
		require.InDelta(t, 10, asked.Load(), 2, "once a minute")
		require.Len(t, log.read(), 2)
		good.Store(true)
		time.Sleep(time.Minute + time.Second)
		require.Equal(t, []string{"start duty", "stop duty", "start duty"}, log.read())
		ok, text := p.Health.Ready()
		require.True(t, ok, text)
		time.Sleep(time.Hour)
		require.Len(t, log.read(), 3)
	})
}

func TestATemporalThatGoesAwayBeforeTheDutyIsAskedForIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log journal
		p, _ := newProcess(t, &server{}, &log, nil)
		asked := 0
		go p.Seek(t.Context(), func() sdkworker.Worker {
			w := &staff{name: "duty", log: &log}
			if asked++; asked < 3 {
				w.err = fmt.Errorf("failed reaching server: %w", serviceerror.NewUnavailable("connection refused"))
			}
			return w
		})
		time.Sleep(time.Hour)
		require.Equal(t, []string{"start duty", "start duty", "start duty"}, log.read())
	})
}

func TestATermNeedsToKnowWhetherSendingIsPaused(t *testing.T) {
	t.Parallel()
	var log journal
	away := errors.New("away")
	p, _ := newProcess(t, &server{err: away}, &log, nil)
	_, err := p.Begin(t.Context(), activities.TermInput{Lease: activities.NewLease()})
	require.ErrorIs(t, err, away)
}

func TestAStandBySaysWhoIsOnDuty(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log journal
		s := &server{holder: "123@host@"}
		p, _ := newProcess(t, s, &log, nil)
		look := func() (bool, string) {
			p.LookAtDuty(t.Context())
			return p.Health.Ready()
		}
		ok, text := look()
		require.True(t, ok)
		require.Equal(t, "ready\nduty: stand-by: 123@host@ is on duty\n", text)
		s.holder, s.waiting = "", time.Now()
		time.Sleep(59 * time.Second)
		ok, text = look()
		require.True(t, ok)
		require.Contains(t, text, "nobody is on duty yet")
		time.Sleep(2 * time.Second)
		ok, text = look()
		require.False(t, ok, "a bot that nobody serves is deaf")
		require.Contains(t, text, "nobody is on duty for 1m1s")
		p.NewTerm(nil, func(context.Context) {}, func() {})
		ok, text = look()
		require.True(t, ok)
		require.Contains(t, text, "this process is on duty")
	})
}

func TestADutyThatIsNotThereIsStarted(t *testing.T) {
	t.Parallel()
	var log journal
	s := &server{none: true}
	p, _ := newProcess(t, s, &log, nil)
	p.LookAtDuty(t.Context())
	p.LookAtDuty(t.Context())
	require.Equal(t, 1, s.started)
}

func TestAPauseIsShownByEveryProcessAndKeptByTheOneOnDuty(t *testing.T) {
	t.Parallel()
	var log journal
	s := &server{holder: "123@host@", pause: &contract.Pause{Reason: "too loud", By: "ann@desk"}}
	p, _ := newProcess(t, s, &log, nil)
	p.LookAtDuty(t.Context())
	ok, text := p.Health.Ready()
	require.True(t, ok)
	require.Contains(t, text, "sending is paused by ann@desk: too loud")
	term := p.NewTerm(nil, func(context.Context) {}, func() {})
	p.LookAtDuty(t.Context())
	require.Equal(t, []string{"paused"}, term.Limiter().Stats().Held)
	s.pause = nil
	p.LookAtDuty(t.Context())
	require.Empty(t, term.Limiter().Stats().Held)
	_, text = p.Health.Ready()
	require.NotContains(t, text, "paused")
}
