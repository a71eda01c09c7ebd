package activities_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

// making is a workflow with activities under way.
type making struct {
	activities.Executions
	pending []*workflowpb.PendingActivityInfo
	err     error
	run     string // that was asked for
}

func (m *making) DescribeWorkflowExecution(_ context.Context, _, run string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	m.run = run
	return &workflowservice.DescribeWorkflowExecutionResponse{PendingActivities: m.pending}, m.err
}

// pending is an activity at an attempt, which the last ledger was written for.
func pending(t *testing.T, name string, attempt int32, details ...any) *workflowpb.PendingActivityInfo {
	t.Helper()
	p := &workflowpb.PendingActivityInfo{ActivityType: &commonpb.ActivityType{Name: name}, Attempt: attempt}
	if len(details) > 0 {
		var err error
		p.HeartbeatDetails, err = converter.GetDefaultDataConverter().ToPayloads(details...)
		require.NoError(t, err)
	}
	return p
}

func (m *making) attempts(t *testing.T) (l contract.Ledger, err error) {
	t.Helper()
	inActivity(t, &attempt{n: 1, token: "look"}, func(ctx context.Context) { l, err = activities.NewTurns(m).Attempts(ctx) })
	return l, err
}

func TestTheAttemptsSoFarAreThoseOfTheLedgerAndThoseThatVanished(t *testing.T) {
	t.Parallel()
	failed := contract.Ledger{Attempt: 2, Failures: 2, PossibleDuplicate: true}
	for name, c := range map[string]struct {
		pending []*workflowpb.PendingActivityInfo
		want    contract.Ledger
	}{
		"nothing is made":         {nil, contract.Ledger{}},
		"something else is made":  {[]*workflowpb.PendingActivityInfo{pending(t, "Other", 5)}, contract.Ledger{}},
		"the first one runs":      {[]*workflowpb.PendingActivityInfo{pending(t, contract.SendActivity, 1)}, contract.Ledger{}},
		"all ended with a word":   {[]*workflowpb.PendingActivityInfo{pending(t, contract.SendActivity, 3, failed)}, failed},
		"one vanished":            {[]*workflowpb.PendingActivityInfo{pending(t, contract.SendActivity, 2)}, contract.Ledger{Failures: 1, PossibleDuplicate: true}},
		"the ledger is no ledger": {[]*workflowpb.PendingActivityInfo{pending(t, contract.SendActivity, 1, "text")}, contract.Ledger{}},
	} {
		m := &making{pending: c.pending}
		got, err := m.attempts(t)
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
		require.Equal(t, "run", m.run, "its own run")
	}
}

func TestAttemptsThatCannotBeLookedAtAreAnError(t *testing.T) {
	t.Parallel()
	_, err := (&making{err: serviceerror.NewUnavailable("away")}).attempts(t)
	require.Error(t, err)
}
