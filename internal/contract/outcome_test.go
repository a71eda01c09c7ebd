package contract_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
)

// Scripts match these words, and histories hold them.
func TestTheWordsOfOutcomesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	for got, want := range map[contract.Outcome]string{
		contract.Pending: "pending", contract.Delivered: "delivered", contract.Unreachable: "unreachable",
		contract.Expired: "expired", contract.Cancelled: "cancelled", contract.Superseded: "superseded",
		contract.Dropped: "dropped", contract.Dead: "dead", contract.Done: "done",
	} {
		require.Equal(t, want, string(got))
	}
	for got, want := range map[contract.Reason]string{
		contract.ReasonRejected: "rejected", contract.ReasonUncertain: "uncertain", contract.ReasonGaveUp: "gave_up",
		contract.ReasonHandlerFailed: "handler_failed", contract.ReasonUndecodable: "undecodable",
		contract.ReasonTooLarge: "too_large", contract.ReasonMovedTwice: "moved_twice",
	} {
		require.Equal(t, want, string(got))
	}
}

func TestTheWordsOfFailuresStayAsTheyAreAndDiffer(t *testing.T) {
	t.Parallel()
	words := map[string]string{
		contract.FailureRateLimited: "RateLimited", contract.FailurePaced: "Paced", contract.FailureUnavailable: "Unavailable",
		contract.FailureUnauthorized: "Unauthorized", contract.FailureUnreachable: "Unreachable", contract.FailureMoved: "Moved",
		contract.FailureRejected: "Rejected", contract.FailureUncertain: "Uncertain", contract.FailureExpired: "Expired",
		contract.FailureGaveUp: "GaveUp", contract.FailureOvertaken: "Overtaken", contract.FailureHandler: "HandlerFailed",
		contract.FailureUndecodable: "Undecodable", contract.FailureTooLarge: "TooLarge",
	}
	require.Len(t, words, 14)
	for got, want := range words {
		require.Equal(t, want, got)
	}
}

func TestTheWordsOfPoliciesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	require.Equal(t, []contract.Priority{"urgent", "normal", "bulk"}, []contract.Priority{contract.Urgent, contract.Normal, contract.Bulk})
	require.Equal(t, []contract.Delivery{"at-least-once", "at-most-once"}, []contract.Delivery{contract.AtLeastOnce, contract.AtMostOnce})
}

func TestAResultOfACallStaysAsItIs(t *testing.T) {
	t.Parallel()
	result := contract.CallResult{
		Method: "sendMessage", ChatID: "-1001234567890123", Outcome: contract.Dead, Reason: contract.ReasonGaveUp, MessageID: "9",
		PossibleDuplicate: true, Degraded: true, Overtaken: true, Attempts: 8, Error: "502", WorkflowID: "message/77/k", MovedTo: "-100",
	}
	wire := `{"method":"sendMessage","chat_id":"-1001234567890123","outcome":"dead","reason":"gave_up","message_id":"9",
		"possible_duplicate":true,"degraded":true,"overtaken":true,"attempts":8,"error":"502","workflow_id":"message/77/k","moved_to":"-100"}`
	data, err := json.Marshal(result)
	require.NoError(t, err)
	require.JSONEq(t, wire, string(data))
	var back contract.CallResult
	require.NoError(t, json.Unmarshal([]byte(wire), &back))
	require.Equal(t, result, back)
}

func TestAResultOfAnUpdateCrossesTheWire(t *testing.T) {
	t.Parallel()
	result := contract.UpdateResult{
		Outcome: contract.Dead, Reason: contract.ReasonHandlerFailed,
		Calls:  []contract.CallResult{{Method: "a", Outcome: contract.Delivered}, {Method: "b", Outcome: contract.Pending}},
		Answer: &contract.CallResult{Method: "answerCallbackQuery", Outcome: contract.Expired},
	}
	data, err := json.Marshal(result)
	require.NoError(t, err)
	var back contract.UpdateResult
	require.NoError(t, json.Unmarshal(data, &back))
	require.Equal(t, result, back, "in the handler's order")
}
