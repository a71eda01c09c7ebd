package worker_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
	"github.com/durabot/durabot/worker"
	"github.com/durabot/durabot/worker/limiter"
)

// onDuty is a process on duty whose senders write into the journal.
func onDuty(t *testing.T, log *journal, cut context.CancelFunc) (worker.Process, worker.Term, *staff, *staff) {
	t.Helper()
	p, main := newProcess(t, &server{}, log, func(context.Context) error { return nil })
	send := &staff{name: "send", log: log}
	polled := func(ctx context.Context) {
		<-ctx.Done()
		time.Sleep(time.Second) // of a bubble: the last poll is cut and confirmed
		log.write("intake over")
	}
	return p, p.NewTerm([]sdkworker.Worker{send, &staff{name: "answer", log: log}}, polled, cut), main, send
}

func TestATermLetsGoInOrderAndTheProcessGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log journal
		_, term, _, send := onDuty(t, &log, func() { log.write("cut") })
		send.stop = func() {
			time.Sleep(time.Second) // of a bubble
			_, err := newBudget(t, term.Limiter()).Acquire(t.Context(), want(""))
			require.ErrorContains(t, err, "paced", "nothing is granted any more")
		}
		term.End()
		require.ElementsMatch(t, []string{"stop send", "stop answer"}, log.read()[:2], "no calls are taken any more")
		require.Equal(t, []string{"intake over"}, log.read()[2:])
		time.Sleep(time.Hour)
		require.NotContains(t, log.read(), "cut", "what has ended need not be cut")
		term.End()
		require.Len(t, log.read(), 3, "a term ends once")
	})
}

func TestAStopEndsTheTermAndStopsTheWorkflowsWhenIntakeIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log journal
		p, term, _, _ := onDuty(t, &log, func() {})
		var ended atomic.Bool
		go func() {
			<-term.Over()
			term.End()
			ended.Store(true)
		}()
		p.Stop(t.Context())
		synctest.Wait()
		time.Sleep(2 * time.Second)
		require.True(t, ended.Load())
		require.ElementsMatch(t, []string{"stop send", "stop answer"}, log.read()[:2], "no calls are taken any more")
		require.Equal(t, []string{"intake over", "stop main"}, log.read()[2:])
	})
}

func TestAStandByStopsItsWorkflowsAtOnce(t *testing.T) {
	t.Parallel()
	var log journal
	p, _ := newProcess(t, &server{}, &log, nil)
	p.Stop(t.Context())
	require.Equal(t, []string{"stop main"}, log.read())
	_, err := p.Begin(t.Context(), activities.TermInput{Lease: activities.NewLease()})
	require.ErrorIs(t, err, activities.ErrStopping, "and takes no duty any more")
}

func TestRequestsInTheAirAreCutAfterFifteenSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log journal
		air, cut := context.WithCancel(t.Context())
		defer cut()
		_, term, _, send := onDuty(t, &log, cut)
		send.stop = func() { <-air.Done() }
		start := time.Now()
		term.End()
		require.Equal(t, worker.AirTime, time.Since(start))
	})
}

func TestAHandOverCarriesWhatASuccessorNeeds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log journal
		p, term, _, _ := onDuty(t, &log, func() {})
		until := time.Now().Add(time.Minute)
		term.Limiter().Penalize(limiter.Scope{Chat: 42, Method: "sendMessage"}, until)
		select {
		case <-term.Urgent():
		default:
			require.Fail(t, "a new penalty is written at once")
		}
		term.Tails().Restore([]contract.Tail{}) // known to be empty
		term.Tails().Move("chat/42", 9, "update/7/9", false)
		beat := term.Beat()
		require.Nil(t, beat.Handover.Tails, "only a clean hand-over knows them")
		require.Len(t, beat.Figures.Limiter.Penalties, 1)

		left := term.End()
		require.Equal(t, []contract.Tail{{Key: "chat/42", UpdateID: 9, WorkflowID: "update/7/9"}}, left.Tails)
		wire, err := json.Marshal(left)
		require.NoError(t, err)
		var read contract.Handover
		require.NoError(t, json.Unmarshal(wire, &read))
		next := p.Restore(&read, false)
		penalties := next.Stats().Penalties
		require.Len(t, penalties, 1)
		require.Equal(t, int64(42), penalties[0].Scope.Chat)
		require.WithinDuration(t, until, penalties[0].Until, time.Millisecond)
	})
}

func TestAfterAKillEachGroupHasHadTenSends(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log journal
		p, _ := newProcess(t, &server{}, &log, nil)
		for killed, want := range map[bool]int{false: 5, true: 0} {
			l := p.Restore(nil, killed)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			n := 0
			for ctx.Err() == nil && n < 5 {
				grant, err := l.Acquire(ctx, limiter.Request{Chat: -1, Method: "sendMessage", Items: 1, Class: limiter.Normal, Counts: true})
				if err == nil {
					grant.Done()
					n++
				}
			}
			cancel()
			require.Equal(t, want, n, "killed: %v", killed)
		}
	})
}

func TestAHandOverThatCannotBeReadStartsAFreshBudget(t *testing.T) {
	t.Parallel()
	var log journal
	p, _ := newProcess(t, &server{}, &log, nil)
	require.NotPanics(t, func() {
		require.Empty(t, p.Restore(&contract.Handover{Limiter: json.RawMessage(`{"penalties":"?"}`)}, false).Stats().Penalties)
	})
}

func TestARefusedTokenEndsTheTermAndBarsTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log journal
		p, term, _, _ := onDuty(t, &log, func() {})
		term.Unauthorized(false)
		select {
		case <-term.Over():
			require.Fail(t, "a call that was taken ends nothing")
		default:
		}
		term.Unauthorized(true)
		term.Unauthorized(true)
		<-term.Over()
		ok, text := p.Health.Ready()
		require.False(t, ok)
		require.Contains(t, text, "refuses the bot token")
		term.End()
		_, err := p.Begin(t.Context(), activities.TermInput{Lease: activities.NewLease()})
		require.ErrorIs(t, err, activities.ErrStopping)
	})
}

func TestAPauseAndAnOutageHoldAllSending(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log journal
		p, term, _, _ := onDuty(t, &log, func() {})
		time.Sleep(time.Minute)
		granted := func() bool {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			grant, err := term.Limiter().Acquire(ctx, limiter.Request{Method: "sendMessage", Chat: 1, Items: 1, Counts: true})
			if err == nil {
				grant.Done()
			}
			return err == nil
		}
		require.True(t, granted())
		term.Pause(true)
		term.Away(true)
		require.False(t, granted())
		ok, text := p.Health.Ready()
		require.True(t, ok)
		require.Contains(t, text, "Telegram cannot be reached")
		term.Pause(false)
		require.False(t, granted(), "still away")
		term.Away(false)
		require.True(t, granted())
		_, text = p.Health.Ready()
		require.NotContains(t, text, "Telegram cannot be reached")
		term.End()
	})
}

// bots is a Bot API that answers polls with what it is told.
func bots(t *testing.T, answer *atomic.Value) (*telegram.Client, *atomic.Int64) {
	t.Helper()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		body, _ := answer.Load().(string)
		if body != `{"ok":true,"result":[]}` {
			w.WriteHeader(http.StatusTooManyRequests)
		}
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	token, err := telegram.ParseToken("7:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	require.NoError(t, err)
	api, err := telegram.New(telegram.Options{BaseURL: server.URL, Token: token})
	require.NoError(t, err)
	return api, &asked
}

func TestAPollWaitsForTheLeaseAndKeepsOutOfAPenalty(t *testing.T) {
	t.Parallel()
	var answer atomic.Value
	answer.Store(`{"ok":true,"result":[]}`)
	api, asked := bots(t, &answer)
	var log journal
	p, _ := newProcess(t, &server{}, &log, nil)
	term := p.NewTerm(nil, func(context.Context) {}, func() {})

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := term.Poll(ctx, api)
	require.Error(t, err, "no lease, no poll")
	require.Zero(t, asked.Load())

	term.Lease().Renew(time.Now())
	_, err = term.Poll(t.Context(), api)
	require.NoError(t, err)

	answer.Store(`{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 600","parameters":{"retry_after":600}}`)
	_, err = term.Poll(t.Context(), api)
	require.Error(t, err)
	require.Equal(t, int64(2), asked.Load())
	_, err = term.Poll(t.Context(), api)
	require.Equal(t, telegram.RateLimited, telegram.Classify(err, "getUpdates"))
	require.Equal(t, int64(2), asked.Load(), "the penalty is not over")
	next := p.Restore(&contract.Handover{Limiter: term.Beat().Handover.Limiter}, true)
	require.Greater(t, time.Until(next.Until(limiter.Scope{Method: "getUpdates"})), 9*time.Minute, "nor is it for a successor")

	term.Lease().End()
	term.Limiter().Stop()
}

func TestCallsThatWaitKeepTheirSlotsUntilNobodyPolls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log journal
		_, term, _, send := onDuty(t, &log, func() {})
		time.Sleep(time.Minute)
		term.Pause(true)
		waits := make(chan time.Time, 1)
		budget := newBudget(t, term.Limiter())
		go func() {
			_, err := budget.Acquire(t.Context(), want(""))
			log.write(err.Error())
			waits <- time.Now()
		}()
		synctest.Wait()
		var told time.Time
		send.stop = func() { told = time.Now() }
		term.End()
		require.GreaterOrEqual(t, (<-waits).Sub(told), 50*time.Millisecond)
	})
}
