package story_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/cli/story"
	"github.com/durabot/durabot/internal/contract"
)

func TestStoryOfEveryRecordedUpdate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, status string
		outcome      contract.Outcome
		reason       contract.Reason
		calls        []string
	}{
		{"echo", "completed", contract.Done, "", []string{"delivered"}},
		{"waited", "completed", contract.Done, "", []string{"delivered"}},
		{"woke", "completed", contract.Done, "", []string{"delivered"}},
		{"turn_in_memory", "completed", contract.Done, "", []string{"delivered"}},
		{"handler_failed", "failed", contract.Dead, contract.ReasonHandlerFailed, []string{}},
		{"panicked", "failed", contract.Dead, contract.ReasonHandlerFailed, []string{}},
		{"rejected", "failed", contract.Dead, contract.ReasonRejected, []string{"dead", "dead", "delivered"}},
		{"keyed", "completed", contract.Done, "", []string{"pending", "pending", "delivered"}},
		{"callback", "completed", contract.Done, "", []string{"delivered"}},
		{"duplicate", "completed", contract.Done, "", []string{"delivered"}},
		{"overtaken", "completed", contract.Done, "", []string{"pending"}},
		{"pending", "running", contract.Pending, "", []string{"pending"}},
		{"waiting", "running", contract.Pending, "", []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := told(t, c.name)
			require.Equal(t, c.status, s.Status)
			require.Equal(t, c.outcome, s.Outcome)
			require.Equal(t, c.reason, s.Reason)
			require.Equal(t, c.calls, outcomes(s))
			require.Equal(t, "update/700000001/"+s.UpdateID, s.WorkflowID)
			require.Equal(t, s.ChatID, s.UserID, "the recorded chats are private")
			require.False(t, s.AcceptedAt.Before(s.ReceivedAt))
			require.Equal(t, c.status == "running", s.ClosedAt.IsZero())
		})
	}
}

func outcomes(s story.Story) []string {
	all := []string{}
	for _, c := range s.Calls {
		all = append(all, string(c.Outcome))
	}
	return all
}

func TestNothingThatAnybodyWroteIsInAStory(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	checked := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if strings.HasSuffix(name, "_describe") || strings.HasSuffix(name, "_message") {
			continue
		}
		text, err := json.Marshal(told(t, name))
		require.NoError(t, err)
		require.NotContains(t, string(text), person, name)
		checked++
	}
	require.GreaterOrEqual(t, checked, 13)
}

func TestPayloadIsTheUpdateAsItCame(t *testing.T) {
	t.Parallel()
	raw := story.Payload(recorded(t, "echo"))
	require.True(t, json.Valid(raw))
	require.Contains(t, string(raw), person)
	require.Nil(t, story.Payload(recorded(t, "keyed_message")))
	require.Nil(t, story.Payload(story.Source{}))
}

func TestOnlyAnUpdateHasAStory(t *testing.T) {
	t.Parallel()
	_, err := story.Of(recorded(t, "keyed_message"))
	require.EqualError(t, err, "message/700000001/order-17 is a MessageWorkflow, not an update")
	_, err = story.Of(story.Source{})
	require.EqualError(t, err, "history of 0 events without a start")
	source := recorded(t, "echo")
	source.Events[0].GetWorkflowExecutionStartedEventAttributes().Input = nil
	_, err = story.Of(source)
	require.ErrorContains(t, err, "input of update/700000001/616200216")
}

// A history is cut at every event: what a person looks at while the update is
// on its way is such a part of one.
func TestEveryPartOfAHistoryTellsAStory(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"waited", "rejected", "keyed", "callback", "handler_failed", "overtaken"} {
		whole := recorded(t, name)
		for n := 1; n < len(whole.Events); n++ {
			s, err := story.Of(story.Source{Events: whole.Events[:n]})
			require.NoError(t, err)
			require.Equal(t, "running", s.Status, "%s, %d events", name, n)
			require.Equal(t, contract.Pending, s.Outcome)
			if s.Handling != nil && s.Handling.State == "done" {
				require.Len(t, s.Calls, s.Handling.Decided, "%s, %d events", name, n)
			}
		}
	}
}

// The same is concluded from the events as the workflow concluded itself.
func TestStoryBeforeTheEndAgreesWithTheResult(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"echo", "waited", "rejected", "keyed", "duplicate", "overtaken", "callback"} {
		whole := recorded(t, name)
		open, err := story.Of(story.Source{Events: whole.Events[:len(whole.Events)-1]})
		require.NoError(t, err)
		closed := told(t, name)
		require.Len(t, open.Calls, len(closed.Calls), name)
		for i, c := range closed.Calls {
			if c.AcceptedAt.IsZero() {
				require.Equal(t, "planned", open.Calls[i].State, "%s, call %d", name, i)
				continue
			}
			require.Equal(t, c.Outcome, open.Calls[i].Outcome, "%s, call %d", name, i)
			require.Equal(t, c.MessageID, open.Calls[i].MessageID, "%s, call %d", name, i)
			require.Equal(t, c.Overtaken, open.Calls[i].Overtaken, "%s, call %d", name, i)
			require.Equal(t, c.WorkflowID, open.Calls[i].WorkflowID, "%s, call %d", name, i)
		}
	}
}

func TestOutcomeNeedsTheLastEventOnly(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"echo", "rejected", "handler_failed", "overtaken"} {
		events := recorded(t, name).Events
		outcome, reason := story.Source{Events: events[len(events)-1:]}.Outcome()
		s := told(t, name)
		require.Equal(t, s.Outcome, outcome, name)
		require.Equal(t, s.Reason, reason, name)
	}
	outcome, _ := recorded(t, "pending").Outcome()
	require.Empty(t, outcome)
	outcome, _ = story.Source{}.Outcome()
	require.Empty(t, outcome)
}
