package workflows_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
)

func TestAChangeIsMadeToTheFirstCallAndStays(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	first := contract.Call{Method: "sendMessage", Params: json.RawMessage(
		`{"text":"1","chat_id":9007199254740993,"parse_mode":"HTML","reply_parameters":{"message_id":5,"quote":"q"}}`)}
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		if len(s.sends) == 1 {
			return contract.CallResult{}, final(contract.FailureGaveUp, contract.CallResult{})
		}
		return numbered(ctx, in)
	}
	patch := `{"text":"2","parse_mode":null,"reply_parameters":{"quote":null,"z":1,"a":2}}`
	s.replays(time.Minute, contract.Replay{Edit: json.RawMessage(patch)})
	s.replays(time.Hour, contract.Replay{})
	in := s.deadLetter(first, say("3"))
	in.Ledger = &contract.Ledger{PossibleDuplicate: true, MovedTo: -100, Degraded: true}
	state := s.lies(in)
	sorted := []byte(`{"chat_id":9007199254740993,"reply_parameters":{"a":2,"message_id":5,"z":1},"text":"2"}`)
	for _, send := range s.sends[:2] {
		require.Equal(t, sorted, []byte(mustObject(t, send.Call)))
	}
	require.Equal(t, &contract.Ledger{PossibleDuplicate: true}, s.sends[0].Ledger, "the old chat and the old text are no matter")
	require.Equal(t, "3", name(s.sends[2].Call))
	require.True(t, state.Actions[0].Edited)
	require.False(t, state.Actions[1].Edited)
}

func TestAChangedTextIsCutAsTheOldOneWas(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	s.replays(time.Minute, contract.Replay{Edit: json.RawMessage(`{"text":"2|3"}`)})
	s.lies(s.deadLetter(long("1")))
	require.Equal(t, []string{"cut", "send 2", "send 3", "wake"}, s.story)
}

func TestACallOfAReplayLivesAsLongAsItWasGiven(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ttl, own, deadline, want time.Duration
	}{
		"new time":        {time.Hour, 0, 0, time.Hour},
		"new for old":     {time.Hour, time.Minute, 10 * time.Minute, time.Hour},
		"what it had":     {0, time.Hour, 10 * time.Minute, 9 * time.Minute},
		"nobody said so":  {0, 0, 0, day},
		"its own, anew":   {0, 2 * time.Hour, 0, 2 * time.Hour},
		"less than a day": {time.Minute, 0, 0, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newGrave(t)
			call := say("1")
			call.TTL = c.own
			in := s.deadLetter(call)
			if c.deadline > 0 {
				in.Deadline = s.start.Add(c.deadline)
			}
			s.replays(time.Minute, contract.Replay{TTL: c.ttl})
			s.lies(in)
			require.Equal(t, c.want, s.sends[0].Deadline.Sub(s.start.Add(time.Minute)).Round(time.Second))
		})
	}
}

func TestATextThatCannotBeParsedIsCutWithWhatWasKnownOfIt(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	s.split = func(call contract.Call) (contract.SplitResult, error) {
		res, err := atBars(call)
		res.Degraded = true
		return res, err
	}
	s.replays(0, contract.Replay{})
	in := s.deadLetter(long("1|2"))
	in.Ledger = &contract.Ledger{PossibleDuplicate: true}
	s.lies(in)
	require.Equal(t, &contract.Ledger{PossibleDuplicate: true, Degraded: true}, s.sends[0].Ledger)
	require.Nil(t, s.sends[1].Ledger)
}
