package activities_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
)

// way is a road with what it did.
type way struct {
	*activities.Road
	mu     sync.Mutex
	gates  []bool
	probes []time.Duration // since the start
	answer error           // of a probe
	log    bytes.Buffer
	start  time.Time
}

func newWay() *way {
	w := &way{answer: refused, start: time.Now()}
	w.Road = activities.NewRoad(w.probe, w.gate, slog.New(slog.NewTextHandler(&w.log, nil)))
	return w
}

func (w *way) probe(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.probes = append(w.probes, time.Since(w.start))
	return w.answer
}

func (w *way) gate(away bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gates = append(w.gates, away)
}

// did is what the gate was told, and when the probes were made.
func (w *way) did() ([]bool, []time.Duration) {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.gates), slices.Clone(w.probes)
}

// answers makes the probes end so.
func (w *way) answers(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = err
}

// run runs the prober for the rest of the bubble.
func (w *way) run(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
}

// fail makes n calls fail, each to a chat of its own.
func (w *way) fail(n int) {
	for c := range n {
		w.Failed(int64(1000+c), true)
	}
}

func TestTheFirstFailureInARowIsTheCallsOwn(t *testing.T) {
	t.Parallel()
	w := newWay()
	require.True(t, w.Failed(1, true))
	require.True(t, w.Failed(1, true), "and those of the same chat that follow alone")
	require.False(t, w.Failed(2, true))
	require.False(t, w.Failed(1, true), "two chats fail: the road does")
	w.Succeeded()
	require.True(t, w.Failed(2, true))
	w.Polled()
	require.True(t, w.Failed(3, true))
	require.Empty(t, w.gates)
}

func TestAFailureOfWhichNothingWasWrittenIsNeverTheCallsOwn(t *testing.T) {
	t.Parallel()
	w := newWay()
	require.False(t, w.Failed(1, false))
	w.Succeeded()
	require.False(t, w.Failed(1, false))
	require.False(t, w.Failed(1, false))
}

func TestAnOutageIsMoreThanBadLuck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		happens func(w *way)
		away    bool
	}{
		"five chats in a row": {func(w *way) { w.fail(5) }, true},
		"four chats in a row": {func(w *way) { w.fail(4) }, false},
		"one chat ten times": {func(w *way) {
			for range 10 {
				w.Failed(1, true)
			}
		}, false},
		"five with a success between":      {func(w *way) { w.fail(4); w.Succeeded(); w.fail(4) }, false},
		"five with a poll between":         {func(w *way) { w.fail(4); w.Polled(); w.fail(4) }, false},
		"a poll and a call":                {func(w *way) { w.PollFailed(); w.Failed(1, true) }, true},
		"a call and a poll":                {func(w *way) { w.Failed(1, true); w.PollFailed() }, true},
		"a poll, a success and a call":     {func(w *way) { w.PollFailed(); w.Succeeded(); w.Failed(1, true) }, false},
		"polls alone":                      {func(w *way) { w.PollFailed(); w.PollFailed(); w.PollFailed() }, false},
		"no connection three times":        {func(w *way) { w.Failed(1, false); w.Failed(1, false); w.Failed(1, false) }, true},
		"no connection twice":              {func(w *way) { w.Failed(1, false); w.Failed(2, false) }, false},
		"a connection between three":       {func(w *way) { w.Failed(1, false); w.Failed(1, false); w.Failed(1, true); w.Failed(1, false) }, false},
		"a new row after an answer":        {func(w *way) { w.fail(5); w.Succeeded(); w.fail(4) }, false},
		"calls that end during the outage": {func(w *way) { w.fail(5); w.fail(5); w.PollFailed() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWay()
			c.happens(w)
			require.Equal(t, c.away, len(w.gates) > 0 && w.gates[len(w.gates)-1])
			require.LessOrEqual(t, len(w.gates), 2)
		})
	}
}

func TestNoFailureDuringAnOutageIsTheCallsOwn(t *testing.T) {
	t.Parallel()
	w := newWay()
	w.fail(5)
	require.False(t, w.Failed(1, true))
}

// The gate is told each change once, in order, whatever happens.
func TestTheGateOpensAndClosesByTurns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		w := newWay()
		for range rapid.IntRange(0, 60).Draw(r, "events") {
			switch rapid.IntRange(0, 4).Draw(r, "event") {
			case 0:
				w.Succeeded()
			case 1:
				w.PollFailed()
			default:
				w.Failed(rapid.Int64Range(0, 5).Draw(r, "chat"), rapid.Bool().Draw(r, "written"))
			}
		}
		for i, away := range w.gates {
			require.Equal(t, i%2 == 0, away)
		}
	})
}

func TestProbesComeOneAtATimeAndEverLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWay()
		w.run(t)
		time.Sleep(time.Hour)
		_, probes := w.did()
		require.Empty(t, probes, "no outage, no probe")
		last, wait := time.Hour, time.Second
		w.fail(5)
		time.Sleep(5 * time.Minute)
		gates, probes := w.did()
		for _, at := range probes {
			require.GreaterOrEqual(t, at-last, wait, "never early")
			require.LessOrEqual(t, at-last, wait*5/4)
			last, wait = at, min(2*wait, time.Minute)
		}
		require.Greater(t, len(probes), 7)
		require.Equal(t, []bool{true}, gates)
		w.answers(answered(429, "Too Many Requests: retry after 5"))
		time.Sleep(75 * time.Second)
		gates, _ = w.did()
		require.Equal(t, []bool{true, false}, gates, "any answer of the Bot API ends it")
	})
}

func TestACallOrAPollThatIsAnsweredEndsAnOutageAndItsProbes(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *way){
		"call": func(w *way) { w.Succeeded() },
		"poll": func(w *way) { w.Polled() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWay()
				w.run(t)
				w.fail(5)
				time.Sleep(30 * time.Second)
				end(w)
				gates, before := w.did()
				require.Equal(t, []bool{true, false}, gates)
				time.Sleep(time.Hour)
				_, after := w.did()
				require.Equal(t, before, after)

				w.fail(5)
				time.Sleep(1250 * time.Millisecond)
				_, after = w.did()
				require.Len(t, after, len(before)+1, "the next outage is probed from a second on again")
			})
		})
	}
}

func TestAProbeThatHangsIsCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := 0
		r := activities.NewRoad(func(ctx context.Context) error {
			n++
			<-ctx.Done()
			return &telegram.Error{Written: true, Err: ctx.Err()}
		}, func(bool) {}, silent)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		r.PollFailed()
		r.Failed(1, true)
		r.Run(ctx)
		require.Equal(t, 2, n)
	})
}

func TestAnOutageIsLoggedWhenItBeginsAndWhenItEnds(t *testing.T) {
	t.Parallel()
	w := newWay()
	w.fail(9)
	w.Succeeded()
	w.Succeeded()
	require.Equal(t, 2, bytes.Count(w.log.Bytes(), []byte("msg=")))
}

// What an answer says of the road shows in whether a row of them is an outage.
func TestOnlyWhatTheRoadSwallowsIsHeldAgainstIt(t *testing.T) {
	t.Parallel()
	_, missing := os.Open(filepath.Join(t.TempDir(), "none"))
	for name, c := range map[string]struct {
		answer error
		away   bool
	}{
		"refused":                {refused, true},
		"reset":                  {reset, true},
		"timeout":                {&telegram.Error{Written: true, Err: context.DeadlineExceeded}, true},
		"502 page":               {page(502), true},
		"500":                    {answered(500, "Internal Server Error: restart"), true},
		"a page with status 200": {page(200), true},
		"cut body":               {cutBody, true},
		"a page of a gateway":    {page(413), false},
		"cut by ourselves":       {&telegram.Error{Written: true, Err: fmt.Errorf("post: %w", context.Canceled)}, false},
		"a file that is missing": {&telegram.Error{Err: &telegram.FileError{Path: "x", Err: missing}}, false},
		"a call that is invalid": {&telegram.Error{Err: telegram.ErrInvalidCall}, false},
		"content":                {answered(400, "Bad Request: failed to get HTTP URL content"), false},
		"429":                    {limited(time.Second), false},
		"delivered by a 500":     {answered(500, "Internal Server Error: sent message was immediately deleted"), false},
		"no error of telegram's": {io.ErrUnexpectedEOF, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			way := newWay()
			for n := range 6 {
				w := newWorld(t)
				w.Road = way.Road
				w.api.script = []error{c.answer}
				in := message()
				method("sendMessage", fmt.Sprintf(`{"chat_id":%d,"text":"x"}`, n+1))(&in)
				_, _ = w.attempt(t, 1, in)
			}
			require.Equal(t, c.away, len(way.gates) == 1)
		})
	}
}

func TestAFailureOfTheRoadCountsNothingButStillMayHaveSent(t *testing.T) {
	t.Parallel()
	for range 20 { // the jitter differs
		w, way := newWorld(t), newWay()
		w.Road = way.Road
		w.as(contract.Ledger{Attempt: 1, Failures: 6})
		way.Failed(7, true) // another chat failed before
		w.api.script = []error{page(502)}
		_, err := w.attempt(t, 2, inTurn())
		require.Equal(t, contract.FailureUnavailable, direct(t, err).Type())
		require.LessOrEqual(t, direct(t, err).NextRetryDelay(), 2*time.Second, "the budget is held meanwhile")
		require.GreaterOrEqual(t, direct(t, err).NextRetryDelay(), time.Second)
		l := w.recorder.last()
		require.Equal(t, 6, l.Failures)
		require.True(t, l.FailingSince.IsZero())
		require.True(t, l.PossibleDuplicate)
		require.True(t, detail(t, direct(t, err)).PossibleDuplicate)
	}
}

func TestAtMostOnceIsUncertainWhoeversFaultItWas(t *testing.T) {
	t.Parallel()
	w, way := newWorld(t), newWay()
	w.Road = way.Road
	way.fail(3)
	w.api.script = []error{reset}
	_, err := w.attempt(t, 1, atMostOnce())
	require.Equal(t, contract.FailureUncertain, direct(t, err).Type())
}

func TestACallOutlivesAnyOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, way := newWorld(t), newWay()
		w.Road = way.Road
		for n := range int32(4 * activities.MaxFailures) {
			w.api.script = append(w.api.script, refused)
			_, err := w.attempt(t, n+1, inTurn())
			require.Equal(t, contract.FailureUnavailable, direct(t, err).Type())
			time.Sleep(direct(t, err).NextRetryDelay())
		}
		require.Equal(t, []bool{true}, way.gates)
		_, err := w.attempt(t, 4*activities.MaxFailures+1, inTurn())
		require.NoError(t, err)
		require.Equal(t, []bool{true, false}, way.gates)
	})
}

func TestACallThatFailsWhileOthersSucceedGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, way := newWorld(t), newWay()
		w.Road = way.Road
		var err error
		for n := range int32(activities.MaxFailures) {
			way.Succeeded()
			w.api.script = append(w.api.script, page(502))
			_, err = w.attempt(t, n+1, message())
		}
		require.Equal(t, contract.FailureGaveUp, direct(t, err).Type())
		require.Empty(t, way.gates)
	})
}

func TestProbeWaitsDoubleFromASecondToAMinute(t *testing.T) {
	t.Parallel()
	for n, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		require.Equal(t, want*time.Second, activities.ProbeWait(n, 0))
	}
	require.Equal(t, time.Minute, activities.ProbeWait(1000, 0))
	require.InDelta(t, 75*time.Second, activities.ProbeWait(9, 0.999999999), float64(time.Millisecond))
}
