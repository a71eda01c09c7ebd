package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/worker"
)

// queued is a server on which one call waits, zero for none.
type queued struct {
	*server
	since time.Time
}

func (q *queued) CountWorkflow(_ context.Context, r *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	res := &workflowservice.CountWorkflowExecutionsResponse{}
	if strings.Contains(r.GetQuery(), "ExecutionTime") && !q.since.IsZero() {
		res.Count = 1
	}
	return res, q.err
}

func (q *queued) ListWorkflow(context.Context, *listRequest) (*listResponse, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return &listResponse{Executions: []*workflowpb.WorkflowExecutionInfo{{ExecutionTime: timestamppb.New(q.since)}}}, nil
}

func (q *queued) set(since time.Time, pause *contract.Pause, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.since, q.pause, q.err = since, pause, err
}

// reporting is a process on duty that tells how it does.
func reporting(t *testing.T, change func(*worker.Options)) (worker.Process, worker.Term, *queued) {
	t.Helper()
	var log journal
	p, _ := newProcess(t, &server{holder: "1@here@"}, &log, nil)
	q := &queued{server: p.Options.Temporal.(*server)}
	p.Numbers.Open(q, "bots", 7, true)
	p.LateAfter = 5 * time.Minute
	if change != nil {
		change(&p.Options)
	}
	term := p.NewTerm(nil, func(context.Context) {}, func() {})
	term.Report()
	return p, term, q
}

// quietly is a term that looks for nothing late.
func quietly(o *worker.Options) { o.LateAfter = 0 }

func TestALateQueueDegradesUnlessSomebodyPausedIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, term, q := reporting(t, nil)
		says := func() string {
			time.Sleep(16 * time.Second) // of a bubble
			ok, text := p.Health.Ready()
			require.True(t, ok)
			return text
		}
		require.Equal(t, "ready\n", says())
		q.set(time.Now().Add(-4*time.Minute), nil, nil)
		require.Equal(t, "ready\n", says())
		q.set(time.Now().Add(-10*time.Minute), nil, nil)
		require.Regexp(t, `^degraded\nqueue: the oldest of 1 calls has waited for 10m\d+s: look at durabot stats\n$`, says())
		q.set(time.Now().Add(-10*time.Minute), nil, errRefused)
		require.Contains(t, says(), "queue: ", "what is not known has not changed")
		q.set(time.Now().Add(-10*time.Minute), &contract.Pause{Reason: "r", By: "b"}, nil)
		require.Equal(t, "ready\n", says(), "the pause is told elsewhere")
		q.set(time.Now().Add(-10*time.Minute), nil, nil)
		require.Contains(t, says(), "queue: ")
		term.End()
		require.NotContains(t, says(), "queue: ", "the next holder tells of it")
	})
}

func TestNoQueueIsLateWhenNobodyWantsToKnow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, term, q := reporting(t, quietly)
		q.set(time.Now().Add(-10*time.Hour), nil, nil)
		time.Sleep(time.Hour) // of a bubble
		_, text := p.Health.Ready()
		require.Equal(t, "ready\n", text)
		term.End()
	})
}

func TestEachMinuteOnDutyIsALineOfNumbers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		_, term, q := reporting(t, func(o *worker.Options) { o.Log = slog.New(slog.NewJSONHandler(&out, nil)) })
		q.set(time.Now(), &contract.Pause{Reason: "what somebody wrote", By: "b"}, nil)
		time.Sleep(3*time.Minute + time.Second) // of a bubble
		q.set(time.Now(), nil, errRefused)
		time.Sleep(3 * time.Minute)
		term.End()
		require.Equal(t, 3, strings.Count(out.String(), `"msg":"numbers"`), "without Temporal there are none")
		first, _, _ := strings.Cut(out.String(), "\n")
		var line map[string]any
		require.NoError(t, json.Unmarshal([]byte(first), &line))
		delete(line, "time")
		require.Equal(t, map[string]any{
			"level": "INFO", "msg": "numbers", "inbox_unhandled": 0., "queue_depth": 1., "oldest_pending_age_s": 60.,
			"dead_open": 0., "dead_last_24h": 0., "broadcasts": 0., "paused": true,
		}, line)
		require.NotContains(t, out.String(), "what somebody wrote")
	})
}

func TestAPenaltyOnTheBotDegradesUntilItsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, term, _ := reporting(t, nil)
		b := newBudget(t, term.Limiter())
		b.Penalize(42, "", time.Now().Add(time.Hour))
		b.Penalize(0, "getUpdates", time.Now().Add(time.Hour))
		term.Beat()
		_, text := p.Health.Ready()
		require.Equal(t, "ready\n", text, "of one chat or method it is daily life")
		until := time.Now().Add(time.Minute)
		b.Penalize(0, "", until)
		term.Beat()
		ok, text := p.Health.Ready()
		require.True(t, ok)
		require.Equal(t, "degraded\npenalty: Telegram limits the whole bot until "+until.UTC().Format(time.RFC3339)+"\n", text)
		time.Sleep(time.Minute + time.Second) // of a bubble
		term.Beat()
		_, text = p.Health.Ready()
		require.Equal(t, "ready\n", text, "one that waits for its probe is over")
		term.End()
	})
}

func TestDeliveriesAreCountedAndHandedOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, first, _ := reporting(t, quietly)
		for range 3 {
			first.Ended(activities.Sent{Method: "sendMessage", Outcome: contract.Delivered, Priority: contract.Normal})
		}
		first.Ended(activities.Sent{Method: "sendMessage", Outcome: contract.Unreachable, Priority: contract.Normal})
		require.Equal(t, 3, first.Beat().Figures.DeliveredLast24h)
		require.Equal(t, first.Hand().Delivered, first.Beat().Handover.Delivered, "after a kill, too")
		left := first.End()

		_, second, _ := reporting(t, quietly)
		second.Take(left.Delivered)
		second.Ended(activities.Sent{Method: "sendMessage", Outcome: contract.Delivered, Priority: contract.Normal})
		require.Equal(t, 4, second.Beat().Figures.DeliveredLast24h)
		time.Sleep(24 * time.Hour) // of a bubble
		require.Zero(t, second.Beat().Figures.DeliveredLast24h)
		second.End()
	})
}

func TestAMonitorHearsOfTheProcessOnDutyAndOfNoOther(t *testing.T) {
	t.Parallel()
	var heard atomic.Int64
	monitor := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { heard.Add(1) }))
	t.Cleanup(monitor.Close)
	_, term, _ := reporting(t, func(o *worker.Options) {
		require.Zero(t, heard.Load(), "a stand-by is silent")
		o.HeartbeatURL = monitor.URL
	})
	require.Eventually(t, func() bool { return heard.Load() == 1 }, 10*time.Second, time.Millisecond)
	term.End()
}
