package workflows_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

func TestAClosedChatIsOpenUntilAnUpdateComesFromIt(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.signal(0, r.closed("blocked", 0))
	r.signal(time.Hour, r.reopened(time.Hour))
	r.ends(time.Hour)
	require.Equal(t, []string{
		`{"chat_id":"42","closed":{"why":"blocked","since":"2026-01-02T03:04:05Z"}}`, `{"chat_id":"42"}`,
	}, r.memos)
	require.Equal(t, []string{"unreachable"}, r.outcomes)
}

func TestAMarkMadeAfterTheClearStays(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.signal(0, r.closed("blocked", time.Minute))
	r.signal(time.Hour, r.reopened(time.Minute)) // the mark is not before it
	r.signal(2*time.Hour, r.reopened(time.Minute+1))
	r.ends(2 * time.Hour)
	require.Len(t, r.memos, 2)
}

func TestTheNewestMarkWins(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.signal(0, r.closed("kicked", time.Minute), r.moved(43, time.Minute))
	r.signal(time.Minute, r.closed("blocked", 0), r.moved(44, 0))
	r.signal(2*time.Minute, r.closed("deactivated", 2*time.Minute), r.moved(45, 2*time.Minute))
	r.signal(time.Hour, r.erased(time.Hour))
	r.ends(time.Hour)
	require.Len(t, r.memos, 3, "the older one changes nothing")
	require.Contains(t, r.memos[0], `"kicked"`)
	require.Contains(t, r.memos[0], `"to":"43"`)
	require.Contains(t, r.memos[1], `"deactivated"`)
	require.Contains(t, r.memos[1], `"to":"45"`)
}

func TestAMovedChatStaysMovedWhateverComesFromIt(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.signal(0, r.moved(43, 0), r.closed("deleted", 0))
	r.signal(time.Hour, r.reopened(time.Hour))
	r.signal(2*time.Hour, r.erased(2*time.Hour))
	r.ends(2 * time.Hour)
	require.Equal(t, []string{"unreachable", "moved"}, r.outcomes)
}

func TestAPenaltyEndsAtItsTimeAndNotByAClear(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.signal(0, r.limited("", time.Hour))
	r.signal(time.Minute, r.limited("sendContact", 3*time.Hour), r.limited("sendContact", 2*time.Hour))
	r.signal(2*time.Minute, r.limited("", 30*time.Minute), r.erased(day))
	r.ends(3 * time.Hour)
	require.Equal(t, []string{"rate_limited"}, r.outcomes)
	require.Equal(t, []string{
		`{"chat_id":"42","penalties":[{"until":"2026-01-02T04:04:05Z"}]}`,
		`{"chat_id":"42","penalties":[{"until":"2026-01-02T04:04:05Z"},{"method":"sendContact","until":"2026-01-02T06:04:05Z"}]}`,
		`{"chat_id":"42","penalties":[{"method":"sendContact","until":"2026-01-02T06:04:05Z"}]}`,
		`{"chat_id":"42"}`,
	}, r.memos)
	for i, at := range []time.Duration{0, time.Minute, time.Hour, 3 * time.Hour} {
		require.Equal(t, at, r.at[i].Sub(r.start).Round(time.Millisecond))
		require.False(t, r.at[i].Before(r.start.Add(at)), "never early")
	}
}

func TestMarksOlderThanNinetyDaysGoAway(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.signal(0, r.closed("blocked", 0), r.moved(43, day))
	r.ends(91 * day)
	require.Equal(t, []string{"unreachable", "moved"}, r.outcomes)
	require.Equal(t, 90*day, r.at[1].Sub(r.start))

	r = newRoom(t)
	r.signal(0, r.closed("blocked", -90*day))
	r.ends(0)
}

func TestThereIsOneTimerForTheNextEnd(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	running, most := 0, 0
	r.env.SetOnTimerScheduledListener(func(string, time.Duration) { running++; most = max(most, running) })
	r.env.SetOnTimerFiredListener(func(string) { running-- })
	r.env.SetOnTimerCanceledListener(func(string) { running-- })
	r.signal(0, r.closed("blocked", 0), r.limited("", 3*time.Hour))
	r.signal(time.Hour, r.limited("sendContact", 2*time.Hour))
	r.signal(time.Hour+time.Minute, r.reopened(time.Hour))
	r.ends(3 * time.Hour)
	require.LessOrEqual(t, most, 2, "the old one is cancelled as the new one is set")
	require.Zero(t, running)
}

func TestAMarkThatComesAsNothingIsLeftKeepsTheChat(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.signal(0, r.closed("blocked", 0))
	r.signal(time.Hour, r.reopened(time.Hour), r.limited("", 2*time.Hour))
	r.ends(2 * time.Hour)
	require.Equal(t, []string{"unreachable", "rate_limited"}, r.outcomes)
}

func TestAClearThatComesBeforeTheMarkItMeansTakesItBackAllTheSame(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.signal(0, r.limited("", time.Hour))
	r.signal(time.Minute, r.reopened(time.Minute), r.closed("blocked", 0))
	r.ends(time.Hour)
	require.NotContains(t, strings.Join(r.memos, ""), "blocked")
}

func TestAChatWithoutAMarkEndsAtOnce(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.signal(0, contract.ChatMark{}, r.limited("", 0))
	r.ends(0)
	require.Empty(t, r.outcomes)
}

func TestNothingIsWrittenThatTheNamespaceDoesNotKnow(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.in.Attributes = false
	r.signal(0, r.closed("blocked", 0))
	r.ends(90 * day)
	require.Empty(t, r.outcomes)
}

func TestALongHistoryGoesOnInANewRun(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.env.RegisterDelayedCallback(func() { r.env.SetContinueAsNewSuggested(true) }, time.Hour)
	r.signal(0, r.closed("blocked", 0), r.limited("", day))
	r.signal(time.Hour, r.moved(43, 0), r.limited("sendContact", day))
	_, err := r.run()
	again, ok := errors.AsType[*workflow.ContinueAsNewError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, contract.ChatWorkflow, again.WorkflowType.Name)
	var next contract.ChatInput
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &next))
	require.Equal(t, contract.ChatInput{BotID: bot, Attributes: true, State: contract.ChatState{
		ChatID: 42, Closed: r.closed("blocked", 0).Closed, Moved: r.moved(43, 0).Moved,
		Penalties: []contract.ChatPenalty{{Until: r.start.Add(day)}, {Method: "sendContact", Until: r.start.Add(day)}},
	}}, next)

	r = newRoom(t)
	r.in = next
	r.signal(time.Hour, r.erased(time.Hour))
	r.ends(day)
	require.Equal(t, []string{"unreachable", "rate_limited"}, r.outcomes)
}

func TestALongHistoryOfNothingEnds(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.env.SetContinueAsNewSuggested(true)
	r.signal(0, r.limited("", 0))
	r.ends(0)
}

func TestACancelledChatEndsCancelled(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.signal(0, r.closed("blocked", 0))
	r.env.RegisterDelayedCallback(r.env.CancelWorkflow, time.Hour)
	at, err := r.run()
	require.True(t, temporal.IsCanceledError(err))
	require.Equal(t, time.Hour, at)
}
