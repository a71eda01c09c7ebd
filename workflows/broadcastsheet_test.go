package workflows_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/workflow"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/workflows"
)

// Temporal warns of payloads above 512 KiB.
func TestTheResultOfAPartIsSmallWhateverTheErrors(t *testing.T) {
	t.Parallel()
	s := newShare(t)
	s.send = func(_ workflow.Context, in contract.BatchInput) (res contract.BatchResult, err error) {
		for _, a := range in.Recipients {
			res.Results = append(res.Results, contract.RecipientResult{
				Chat: a.Chat, Outcome: contract.Dead, Reason: contract.ReasonMovedTwice, MessageID: "1234567890",
				Error: strings.Repeat("<\"ä", 100), At: time.Date(2026, 1, 2, 3, 4, 5, 123456789, time.UTC),
				PossibleDuplicate: true, Degraded: true, MovedTo: "-1001234567890",
			})
		}
		return res, nil
	}
	in := s.of(2000, contract.AtMostOnce)
	for i := range in.Recipients {
		in.Recipients[i].Chat = "-100123456" + in.Recipients[i].Chat
	}
	s.orders(contract.PartGo, 0)
	res := s.ends(in)
	require.Less(t, len(asJSON(res)), 512<<10)
	require.Greater(t, len(res.Results[0].Error), 100, "the first are told in full")
	require.NotEmpty(t, res.Results[1999].Error)
}

func TestATextIsCutByWhatItTakesAsJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, most := rapid.String().Draw(t, "text"), rapid.IntRange(0, 40).Draw(t, "most")
		cut, size := workflows.Fitting(text, most)
		require.True(t, strings.HasPrefix(text, cut))
		data, err := json.Marshal(cut)
		require.NoError(t, err)
		require.LessOrEqual(t, len(data)-2, size)
		require.LessOrEqual(t, size, most)
		again, _ := workflows.Fitting(cut, most)
		require.Equal(t, cut, again)
	})
}
