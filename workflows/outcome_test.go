package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/workflows"
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

func TestATimeoutIsJudgedByTheLedgerAndByWhetherAnAttemptWasUnderWay(t *testing.T) {
	t.Parallel()
	flagged := contract.Ledger{PossibleDuplicate: true, Error: "502"}
	inFlight := contract.Ledger{InFlight: true}
	earlier := final(contract.FailurePaced, contract.CallResult{})
	for name, c := range map[string]struct {
		delivery contract.Delivery
		started  int64
		err      error
		want     contract.CallResult
	}{
		"never left":            {contract.AtLeastOnce, 0, overdue(nil), contract.CallResult{Outcome: contract.Expired}},
		"after a failure":       {contract.AtLeastOnce, 0, overdue(earlier, flagged), contract.CallResult{Outcome: contract.Expired, PossibleDuplicate: true, Error: "502"}},
		"under way":             {contract.AtLeastOnce, 6, overdue(nil), contract.CallResult{Outcome: contract.Expired, PossibleDuplicate: true}},
		"under way again":       {contract.AtLeastOnce, 6, overdue(earlier, contract.Ledger{Attempt: 1}), contract.CallResult{Outcome: contract.Expired, PossibleDuplicate: true}},
		"left, once":            {contract.AtMostOnce, 6, overdue(nil, inFlight), contract.CallResult{Outcome: contract.Dead, Reason: contract.ReasonUncertain}},
		"left, once, then lost": {contract.AtMostOnce, 0, overdue(earlier, inFlight), contract.CallResult{Outcome: contract.Dead, Reason: contract.ReasonUncertain}},
		"under way, not marked": {contract.AtMostOnce, 6, overdue(nil, contract.Ledger{Attempt: 1}), contract.CallResult{Outcome: contract.Expired}},
		"under way, no ledger":  {contract.AtMostOnce, 6, overdue(nil), contract.CallResult{Outcome: contract.Expired}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := say("1")
			call.Delivery = c.delivery
			got, left := workflows.Ended(call, fromServer(t, c.started, c.err))
			require.Nil(t, left)
			c.want.Method, c.want.ChatID = "sendMessage", "42"
			require.Equal(t, c.want, got)
		})
	}
}

// overdue is how the server ends an activity whose time is over, whatever the
// last attempt was at.
func overdue(earlier error, ledger ...any) error {
	return temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE, earlier, ledger...)
}

// fromServer is an activity's error as it comes out of a history. Started is the
// event of the attempt under way, 0 for none; the test environment knows none.
func fromServer(t *testing.T, started int64, err error) error {
	t.Helper()
	failures := temporal.GetDefaultFailureConverter()
	return failures.FailureToError(&failurepb.Failure{
		Cause: failures.ErrorToFailure(err),
		FailureInfo: &failurepb.Failure_ActivityFailureInfo{ActivityFailureInfo: &failurepb.ActivityFailureInfo{
			ScheduledEventId: 5, StartedEventId: started, ActivityType: &commonpb.ActivityType{Name: contract.SendActivity},
		}},
	})
}

func TestACallThatIsTakenBackTellsWhatItsLastAttemptKnew(t *testing.T) {
	t.Parallel()
	known := contract.CallResult{Method: "sendMessage", ChatID: "42", Attempts: 2, PossibleDuplicate: true, Degraded: true}
	for name, c := range map[string]struct {
		err  error
		want contract.CallResult
	}{
		"told":          {temporal.NewCanceledError(known), known},
		"nobody to ask": {temporal.NewCanceledError(), contract.CallResult{Method: "sendMessage", ChatID: "42"}},
	} {
		c.want.Outcome = contract.Cancelled
		got, left := workflows.Ended(say("1"), fromServer(t, 6, c.err))
		require.Nil(t, left)
		require.Equal(t, c.want, got, name)
	}
	failures := temporal.GetDefaultFailureConverter()
	failed := failures.ErrorToFailure(fromServer(t, 6, final(contract.FailureUnavailable, known)))
	failed.GetActivityFailureInfo().RetryState = enumspb.RETRY_STATE_CANCEL_REQUESTED
	got, _ := workflows.Ended(say("1"), failures.FailureToError(failed))
	require.Equal(t, contract.Cancelled, got.Outcome, "not tried again because it was cancelled")
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
