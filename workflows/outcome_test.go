package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
)

// ended runs an update with one call whose Send ends with err.
func ended(t *testing.T, call contract.Call, err error) contract.CallResult {
	t.Helper()
	s := newStage(t)
	s.handler = calls(call)
	s.send = func(context.Context, contract.SendInput) (contract.CallResult, error) {
		return contract.CallResult{}, err
	}
	res, _ := s.run(update())
	require.Len(t, res.Calls, 1)
	return res.Calls[0]
}

func TestAnErrorToBeRepeatedIsExpiredWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{
		contract.FailureExpired, contract.FailurePaced, contract.FailureRateLimited, contract.FailureUnavailable, contract.FailureUnauthorized,
	} {
		details := contract.CallResult{Method: "sendMessage", ChatID: "42", PossibleDuplicate: true, Attempts: 3, Error: "x"}
		got := ended(t, say("1"), final(kind, details))
		details.Outcome = contract.Expired
		require.Equal(t, details, got)
	}
}

func TestAFailureWithoutDetailsKeepsItsMessage(t *testing.T) {
	t.Parallel()
	got := ended(t, say("1"), final(contract.FailureRejected))
	require.Equal(t, contract.CallResult{
		Method: "sendMessage", ChatID: "42", Outcome: contract.Dead, Reason: contract.ReasonRejected, Error: "message of Rejected",
	}, got)
}

func TestATimeoutIsJudgedByTheLedger(t *testing.T) {
	t.Parallel()
	overall, silence := enumspb.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE, enumspb.TIMEOUT_TYPE_HEARTBEAT
	flagged := contract.Ledger{PossibleDuplicate: true, Error: "502"}
	inFlight := contract.Ledger{InFlight: true}
	earlier := final(contract.FailurePaced, contract.CallResult{})
	for name, c := range map[string]struct {
		delivery contract.Delivery
		err      error
		want     contract.CallResult
	}{
		"never left":             {contract.AtLeastOnce, temporal.NewTimeoutError(overall, nil), contract.CallResult{Outcome: contract.Expired}},
		"after a failure":        {contract.AtLeastOnce, temporal.NewTimeoutError(overall, nil, flagged), contract.CallResult{Outcome: contract.Expired, PossibleDuplicate: true, Error: "502"}},
		"fell silent":            {contract.AtLeastOnce, temporal.NewTimeoutError(silence, nil), contract.CallResult{Outcome: contract.Expired, PossibleDuplicate: true}},
		"under way, once":        {contract.AtMostOnce, temporal.NewTimeoutError(overall, nil, inFlight), contract.CallResult{Outcome: contract.Dead, Reason: contract.ReasonUncertain}},
		"under way, once, paced": {contract.AtMostOnce, temporal.NewTimeoutError(overall, earlier, inFlight), contract.CallResult{Outcome: contract.Dead, Reason: contract.ReasonUncertain}},
		"fell silent, once":      {contract.AtMostOnce, temporal.NewTimeoutError(silence, nil, contract.Ledger{Attempt: 1}), contract.CallResult{Outcome: contract.Expired}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := say("1")
			call.Delivery = c.delivery
			got := ended(t, call, c.err)
			c.want.Method, c.want.ChatID = "sendMessage", "42"
			require.Equal(t, c.want, got)
		})
	}
}

func TestACallWhoseTimeIsOverIsNoDeath(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	call := say("1")
	call.TTL = time.Minute
	s.handler = calls(call, say("2"))
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		if name(in.Call) == "2" {
			return delivers(ctx, in)
		}
		return contract.CallResult{}, temporal.NewApplicationErrorWithOptions("later", contract.FailureRateLimited,
			temporal.ApplicationErrorOptions{NextRetryDelay: time.Hour, Details: []any{contract.CallResult{Method: "sendMessage", ChatID: "42"}}})
	}
	res, err := s.run(update())
	require.NoError(t, err)
	require.Equal(t, "expired, delivered", outcomes(res.Calls))
}
