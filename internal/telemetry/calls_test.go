package telemetry_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

func TestACallIsCountedByMethodAndOutcomeAndADeadOneByItsReason(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	m.Sent(activities.Sent{Method: "sendMessage", Outcome: contract.Delivered, Priority: contract.Bulk, Waited: 2 * time.Second})
	m.Sent(activities.Sent{Method: "sendMessage", Outcome: contract.Delivered, Priority: contract.Bulk, PossibleDuplicate: true})
	m.Sent(activities.Sent{Method: "sendPhoto", Outcome: contract.Dead, Reason: contract.ReasonRejected, Priority: contract.Urgent, Waited: time.Second})
	m.Sent(activities.Sent{Method: "sendChatAction", Outcome: contract.Dropped, Priority: contract.Normal})
	text := scrape(t, m)
	for _, line := range []string{
		`durabot_calls_total{method="sendMessage",outcome="delivered"} 2`,
		`durabot_calls_total{method="sendPhoto",outcome="rejected"} 1`,
		`durabot_calls_total{method="sendChatAction",outcome="dropped"} 1`,
		`durabot_possible_duplicates_total 1`,
		`durabot_call_wait_seconds_count{class="bulk"} 2`,
		`durabot_call_wait_seconds_sum{class="bulk"} 2`,
		`durabot_call_wait_seconds_bucket{class="urgent",le="1"} 1`,
		`durabot_call_wait_seconds_count{class="normal"} 0`, // it was never let go
	} {
		require.Contains(t, text, "\n"+line+"\n")
	}
}

func TestARunOfTheHandlerIsTimedAndItsFailureCounted(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	require.Contains(t, scrape(t, m), "\ndurabot_handler_failures_total 0\n")
	m.Handled(20*time.Millisecond, true)
	m.Handled(3*time.Second, false)
	text := scrape(t, m)
	require.Contains(t, text, "\ndurabot_handler_failures_total 1\n")
	require.Contains(t, text, "\ndurabot_handler_seconds_count 2\n")
	require.Contains(t, text, "\ndurabot_handler_seconds_bucket{le=\"0.025\"} 1\n")
}
