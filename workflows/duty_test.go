package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

func TestATermPassesOnWhatItsHolderLeft(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	before := contract.Handover{Clean: true, Tails: []contract.Tail{}}
	next := p.next(contract.DutyInput{BotID: bot, Handover: &before})
	require.Equal(t, []contract.HoldInput{{BotID: bot, Handover: &before}}, p.held)
	require.Equal(t, left(), *next.Handover)
	require.Nil(t, next.Pause)
	require.Equal(t, []string{`{}`}, p.memos)
	require.Equal(t, []workflow.ActivityOptions{{
		TaskQueue: "durabot-7-duty", StartToCloseTimeout: 25 * time.Hour, HeartbeatTimeout: 15 * time.Second,
		WaitForCancellation: true, DisableEagerExecution: true, Summary: "on duty",
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 1},
	}}, p.asked.activities)
}

func TestAPauseIsSeenAtOnceAndUntilItIsTakenBack(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	p.signal(time.Minute, contract.PauseSignal, pause("flood", 0))
	p.signal(2*time.Minute, contract.PauseSignal, pause("a slip", time.Minute), pause("maintenance", time.Minute))
	p.signal(3*time.Minute, contract.ResumeSignal, pause("over", 2*time.Minute))
	p.signal(4*time.Minute, contract.ResumeSignal, pause("over", 3*time.Minute))
	begin := p.env.Now()
	next := p.next(contract.DutyInput{BotID: bot})
	require.Nil(t, next.Pause)
	require.Equal(t, []string{
		`{}`,
		`{"pause":{"reason":"flood","by":"ann","at":"2026-01-02T03:04:05Z"}}`,
		`{"pause":{"reason":"maintenance","by":"ann","at":"2026-01-02T03:05:05Z"}}`,
		`{}`,
	}, p.memos, "a second pause replaces the first, a second resume changes nothing")
	for i, when := range []time.Duration{0, time.Minute, 2 * time.Minute, 3 * time.Minute} {
		require.Equal(t, when, p.at[i].Sub(begin).Round(time.Second))
	}
	require.Len(t, p.held, 1, "the term goes on meanwhile")
}

func TestAPauseOutlivesTheTerm(t *testing.T) {
	t.Parallel()
	given := pause("flood", 0)
	p := newPost(t)
	p.signal(time.Minute, contract.PauseSignal, given)
	next := p.next(contract.DutyInput{BotID: bot})
	require.Equal(t, &given, next.Pause)

	p = newPost(t)
	next = p.next(next)
	require.Equal(t, &given, next.Pause)
	require.Equal(t, []string{`{"pause":{"reason":"flood","by":"ann","at":"2026-01-02T03:04:05Z"}}`}, p.memos)
}

func TestASignalThatComesWithTheEndOfATermIsNotLost(t *testing.T) {
	t.Parallel()
	given := pause("flood", 0)
	for name, c := range map[string]struct {
		before *contract.Pause
		signal string
		want   *contract.Pause
	}{
		"pause":  {nil, contract.PauseSignal, &given},
		"resume": {&given, contract.ResumeSignal, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPost(t)
			p.hold = func(contract.HoldInput) (contract.Handover, error) {
				p.env.SignalWorkflowSkippingWorkflowTask(c.signal, given)
				return left(), nil
			}
			require.Equal(t, c.want, p.next(contract.DutyInput{BotID: bot, Pause: c.before}).Pause)
			require.Len(t, p.memos, 2)
		})
	}
}

func TestOfAPauseAndAResumeThatComeTogetherTheLaterWins(t *testing.T) {
	t.Parallel()
	early, late := pause("early", 0), pause("late", time.Minute)
	for name, c := range map[string]struct {
		pause, resume contract.Pause
		want          *contract.Pause
	}{
		"resumed":   {early, late, nil},
		"paused":    {late, early, &late},
		"same time": {early, early, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPost(t)
			p.env.RegisterDelayedCallback(func() {
				p.env.SignalWorkflowSkippingWorkflowTask(contract.PauseSignal, c.pause)
				p.env.SignalWorkflow(contract.ResumeSignal, c.resume)
			}, time.Minute)
			require.Equal(t, c.want, p.next(contract.DutyInput{BotID: bot}).Pause)
		})
	}
}

// The clocks of two operators may differ: their times decide only where nothing
// else does.
func TestAResumeThatComesAfterAPauseCountsWhateverItsClockSays(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	p.signal(time.Minute, contract.PauseSignal, pause("by a clock that is fast", time.Hour))
	p.signal(2*time.Minute, contract.ResumeSignal, pause("by one that is right", 0))
	require.Nil(t, p.next(contract.DutyInput{BotID: bot}).Pause)
}

func TestASignalThatIsNoPauseChangesNothing(t *testing.T) {
	t.Parallel()
	given := pause("flood", 0)
	p := newPost(t)
	p.env.RegisterDelayedCallback(func() {
		p.env.SignalWorkflow(contract.PauseSignal, "what?")
		p.env.SignalWorkflow(contract.ResumeSignal, 5)
	}, time.Minute)
	require.Equal(t, &given, p.next(contract.DutyInput{BotID: bot, Pause: &given}).Pause)
}

func TestATermThatFailsForGoodIsFollowedByAnotherThatTrustsNothing(t *testing.T) {
	t.Parallel()
	fail := func(contract.HoldInput) (contract.Handover, error) {
		return left(), temporal.NewNonRetryableApplicationError("broken", "Broken", nil)
	}
	p := newPost(t)
	p.hold = fail
	before := left()
	next := p.next(contract.DutyInput{BotID: bot, Handover: &before})
	require.Equal(t, contract.Handover{Limiter: before.Limiter}, *next.Handover, "its penalties last, its tails and marks do not")

	p = newPost(t)
	p.hold = fail
	require.Nil(t, p.next(contract.DutyInput{BotID: bot}).Handover)
}

// The test environment ends a cancelled activity at once; a server waits for the
// holder, as the options say.
func TestACancelledDutyEndsCancelledAndCancelsItsHolder(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	stopped := false
	p.env.SetOnActivityCanceledListener(func(*activity.Info) { stopped = true })
	p.env.RegisterDelayedCallback(p.env.CancelWorkflow, time.Minute)
	p.env.ExecuteWorkflow(contract.DutyWorkflow, contract.DutyInput{BotID: bot})
	require.True(t, p.env.IsWorkflowCompleted())
	require.True(t, temporal.IsCanceledError(p.env.GetWorkflowError()))
	require.True(t, stopped)
}

func TestADutyThatIsCancelledAsItsTermEndsDoesNotGoOn(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	p.hold = func(contract.HoldInput) (contract.Handover, error) {
		p.env.CancelWorkflow()
		return left(), nil
	}
	p.env.ExecuteWorkflow(contract.DutyWorkflow, contract.DutyInput{BotID: bot})
	require.True(t, temporal.IsCanceledError(p.env.GetWorkflowError()))
}
