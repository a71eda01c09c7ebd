package telemetry_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telemetry"
	"github.com/durabot/durabot/starter"
)

func newMetrics(t *testing.T) *telemetry.Metrics {
	t.Helper()
	m, err := telemetry.NewMetrics()
	require.NoError(t, err)
	return m
}

// scrape is what Prometheus sees.
func scrape(t *testing.T, m *telemetry.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
	promhttp.HandlerFor(m.Registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	require.Equal(t, http.StatusOK, w.Code)
	return w.Body.String()
}

func TestEveryCountStartsAtZeroAndGoesUp(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	for name, act := range map[string]func(){
		"durabot_updates_duplicate_total": m.Duplicate, "durabot_updates_undecodable_total": m.Undecodable, "durabot_polls_total": m.Polled,
	} {
		require.Contains(t, scrape(t, m), "\n"+name+" 0\n")
		act()
		act()
		require.Contains(t, scrape(t, m), "\n"+name+" 2\n")
		require.Contains(t, scrape(t, m), "# HELP "+name+" ")
		require.Contains(t, scrape(t, m), "# TYPE "+name+" counter\n")
	}
}

func TestStoredUpdatesAreCountedByKind(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	for _, kind := range []string{"message", "message", "poll", ""} {
		m.Stored(kind)
	}
	text := scrape(t, m)
	require.Contains(t, text, "durabot_updates_stored_total{kind=\"message\"} 2\n")
	require.Contains(t, text, "durabot_updates_stored_total{kind=\"poll\"} 1\n")
	require.Contains(t, text, "durabot_updates_stored_total{kind=\"\"} 1\n")
}

func TestPostsAreCountedByWhatBecameOfThem(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	for _, answer := range starter.PostAnswers() {
		name := "durabot_webhook_posts_total{answer=\"" + string(answer) + "\"}"
		require.Contains(t, scrape(t, m), name+" 0\n")
		m.Posted(answer)
		require.Contains(t, scrape(t, m), name+" 1\n")
	}
}

func TestTheOnlyLabelsOfOurOwnAreFewAndBounded(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	m.Stored("message")
	m.Posted(starter.PostStored)
	m.Limited(42, "sendMessage")
	m.Sent(activities.Sent{Method: "sendMessage", Outcome: contract.Delivered, Priority: contract.Normal})
	m.Registry.MustRegister(telemetry.NewNumbers(counting(nil)), telemetry.NewTroubles(telemetry.NewHealth()))
	families, err := m.Registry.Gather()
	require.NoError(t, err)
	labels := map[string][]string{}
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "durabot_") {
			labels[f.GetName()] = []string{}
			for _, l := range f.GetMetric()[0].GetLabel() {
				labels[f.GetName()] = append(labels[f.GetName()], l.GetName())
			}
		}
	}
	require.Equal(t, map[string][]string{
		"durabot_updates_stored_total": {"kind"}, "durabot_updates_duplicate_total": {}, "durabot_updates_undecodable_total": {},
		"durabot_polls_total": {}, "durabot_webhook_posts_total": {"answer"}, "durabot_rate_limited_total": {"scope"}, "durabot_on_duty": {}, "durabot_calls_waiting": {"class"},
		"durabot_penalties": {}, "durabot_unreachable_chats": {},
		"durabot_calls_total": {"method", "outcome"}, "durabot_possible_duplicates_total": {}, "durabot_call_wait_seconds": {"class"},
		"durabot_handler_seconds": {}, "durabot_handler_failures_total": {}, "durabot_heartbeat_failures_total": {},
		"durabot_inbox_unhandled": {}, "durabot_queue_depth": {}, "durabot_oldest_pending_age_seconds": {}, "durabot_dead_open": {},
		"durabot_dead_last_24h": {}, "durabot_broadcasts": {}, "durabot_trouble": {"kind", "part"},
	}, labels)
}

func TestTheMetricsOfGoTheProcessAndTheTemporalSDKAreAmongThem(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	m.Temporal.WithTags(map[string]string{"operation": "StartWorkflowExecution"}).Counter("temporal_request").Inc(3)
	text := scrape(t, m)
	require.Regexp(t, `(?m)^temporal_request\w*\{operation="StartWorkflowExecution"\} 3$`, text)
	require.Contains(t, text, "\ngo_goroutines ")
	require.Contains(t, text, "\nprocess_start_time_seconds ")
}

func TestALatencyOfTheTemporalSDKIsCountedInSeconds(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	m.Temporal.Timer("temporal_request_latency").Record(30 * time.Millisecond)
	text := scrape(t, m)
	require.Regexp(t, `(?m)^temporal_request_latency_seconds_bucket\{le="0.025"\} 0$`, text)
	require.Regexp(t, `(?m)^temporal_request_latency_seconds_bucket\{le="0.05"\} 1$`, text)
}

func TestTheMetricsOfOneProcessAreNotThoseOfAnother(t *testing.T) {
	t.Parallel()
	a, b := newMetrics(t), newMetrics(t)
	a.Polled()
	require.Contains(t, scrape(t, b), "\ndurabot_polls_total 0\n")
}

func TestEach429IsCountedByWhatItIsOn(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	for _, scope := range []string{"chat", "method", "bot"} {
		require.Contains(t, scrape(t, m), "durabot_rate_limited_total{scope=\""+scope+"\"} 0\n")
	}
	m.Limited(-100, "sendMessage")
	m.Limited(42, "")
	m.Limited(0, "getUpdates")
	m.Limited(0, "")
	text := scrape(t, m)
	require.Contains(t, text, "durabot_rate_limited_total{scope=\"chat\"} 2\n")
	require.Contains(t, text, "durabot_rate_limited_total{scope=\"method\"} 1\n")
	require.Contains(t, text, "durabot_rate_limited_total{scope=\"bot\"} 1\n")
}

func TestTheBudgetIsShownByItsHolderOnly(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	require.Contains(t, scrape(t, m), "durabot_on_duty 0\n")
	m.OnDuty(true)
	m.Budget(contract.Figures{
		UnreachableChats: 3,
		Limiter: contract.LimiterFigures{
			Waiting: map[contract.Priority]int{contract.Bulk: 7}, Penalties: []contract.Penalty{{ChatID: "1"}},
		},
	})
	text := scrape(t, m)
	for _, line := range []string{
		"durabot_on_duty 1", `durabot_calls_waiting{class="bulk"} 7`, `durabot_calls_waiting{class="urgent"} 0`,
		"durabot_penalties 1", "durabot_unreachable_chats 3",
	} {
		require.Contains(t, text, line+"\n")
	}
	m.OnDuty(false)
	m.Budget(contract.Figures{})
	text = scrape(t, m)
	for _, line := range []string{
		"durabot_on_duty 0", `durabot_calls_waiting{class="bulk"} 0`, "durabot_penalties 0", "durabot_unreachable_chats 0",
	} {
		require.Contains(t, text, line+"\n")
	}
}
