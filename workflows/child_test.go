package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
)

func TestAMessageOfAnUpdateIsFoundLikeOneFromOutside(t *testing.T) {
	t.Parallel()
	chat, kind := temporal.NewSearchAttributeKeyKeyword(contract.AttributeChat), temporal.NewSearchAttributeKeyKeyword(contract.AttributeKind)
	for name, c := range map[string]struct {
		known bool
		call  contract.Call
		want  temporal.SearchAttributes
	}{
		"with a chat":   {true, say("1"), temporal.NewSearchAttributes(kind.ValueSet("sendMessage"), chat.ValueSet("42"))},
		"without":       {true, contract.Call{Method: "getMe"}, temporal.NewSearchAttributes(kind.ValueSet("getMe"))},
		"no attributes": {false, say("1"), temporal.SearchAttributes{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.call.Key = "order-5"
			hash, err := c.call.Hash()
			require.NoError(t, err)
			s := newStage(t)
			s.handler = calls(c.call)
			s.fakeMessages()
			in := update()
			in.Attributes = c.known
			_, err = s.run(in)
			require.NoError(t, err)
			require.Equal(t, c.known, s.messages[0].Attributes)
			require.True(t, s.messages[0].Counted)
			require.True(t, s.messages[0].CancelWaits)
			require.Equal(t, map[string]any{contract.MemoHash: hash}, s.asked.children[0].Memo)
			require.Equal(t, c.want, s.asked.children[0].TypedSearchAttributes)
		})
	}
}

func TestAMessageOfAnUpdateThatLeavesLaterIsScheduled(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	due, past := say("1"), say("2")
	due.At, past.At = s.start.Add(time.Hour), s.start.Add(-time.Hour)
	s.handler = calls(due, past)
	s.fakeMessages()
	in := update()
	in.Attributes = true
	_, err := s.run(in)
	require.NoError(t, err)
	for i, want := range []string{contract.OutcomeScheduled, ""} {
		set := s.asked.children[i].TypedSearchAttributes
		outcome, _ := set.GetKeyword(outcomeKey)
		require.Equal(t, want, outcome)
	}
}
