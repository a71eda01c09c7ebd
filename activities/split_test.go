package activities_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

// long is a call whose text is markup around n letters.
func long(t *testing.T, open, end string, n int) contract.Call {
	t.Helper()
	params, err := json.Marshal(map[string]any{
		"chat_id": 1, "text": open + strings.Repeat("secret", n/6) + end, "parse_mode": "HTML", "reply_markup": map[string]any{"force_reply": true},
	})
	require.NoError(t, err)
	return contract.Call{
		Method: "sendMessage", Params: json.RawMessage(params), Priority: contract.Bulk, Delivery: contract.AtMostOnce, TTL: time.Hour,
		Key: "k", At: received, Independent: true, Split: true, PlainFallback: true,
	}
}

func TestThePartsOfACallAreSentAsTheCallWouldBe(t *testing.T) {
	t.Parallel()
	res, err := activities.Split(t.Context(), long(t, "<b>", "</b>", 6000))
	require.NoError(t, err)
	require.False(t, res.Degraded)
	require.Len(t, res.Calls, 2)
	for i, part := range res.Calls {
		params, ok := part.Params.(json.RawMessage)
		require.True(t, ok)
		require.Equal(t, i == 1, strings.Contains(string(params), "force_reply"))
		require.Contains(t, string(params), `"type":"bold"`)
		part.Params = nil
		require.Equal(t, contract.Call{
			Method: "sendMessage", Priority: contract.Bulk, Delivery: contract.AtMostOnce, TTL: time.Hour, PlainFallback: true,
		}, part)
	}
}

func TestSplittingTwiceGivesTheSame(t *testing.T) {
	t.Parallel()
	call := long(t, "<b><i>", "</i></b>", 60000)
	first, err := activities.Split(t.Context(), call)
	require.NoError(t, err)
	second, err := activities.Split(t.Context(), call)
	require.NoError(t, err)
	require.Equal(t, first, second)
}

func TestACallThatFitsIsAlone(t *testing.T) {
	t.Parallel()
	call := long(t, "<b", "", 600) // Telegram's to refuse
	res, err := activities.Split(t.Context(), call)
	require.NoError(t, err)
	require.False(t, res.Degraded)
	require.Len(t, res.Calls, 1)
	require.Equal(t, call.Params, res.Calls[0].Params)
	require.False(t, res.Calls[0].Split)
}

func TestBrokenMarkupIsCutAsItIsWrittenIfTheCallAllowsIt(t *testing.T) {
	t.Parallel()
	call := long(t, "a <b ", "", 6000)
	res, err := activities.Split(t.Context(), call)
	require.NoError(t, err)
	require.True(t, res.Degraded)
	require.Len(t, res.Calls, 2)
	params, ok := res.Calls[0].Params.(json.RawMessage)
	require.True(t, ok)
	require.Contains(t, string(params), "a <b secret")
	require.NotContains(t, string(params), "parse_mode")
	require.NoError(t, activities.CheckSplit(call))
}

func TestACallThatCannotBeCutIsRejectedQuietly(t *testing.T) {
	t.Parallel()
	call := long(t, "a <b ", "", 6000)
	call.PlainFallback = false
	_, err := activities.Split(t.Context(), call)
	refused, ok := err.(*temporal.ApplicationError) //nolint:errorlint // it must not be wrapped
	require.True(t, ok)
	require.True(t, refused.NonRetryable())
	require.Equal(t, contract.FailureRejected, refused.Type())
	require.Equal(t, "can't parse entities: a tag has no end at byte 2", refused.Message())

	call.Method = "editMessageText"
	call.Params = json.RawMessage(`{"text":"` + strings.Repeat("secret", 1000) + `"}`)
	_, err = activities.Split(t.Context(), call)
	require.ErrorContains(t, err, "a text has 4096 characters at most")
	require.NotContains(t, err.Error(), "secret")
	require.EqualError(t, activities.CheckSplit(call), "call editMessageText: the text is too long and cannot be cut: here a text has 4096 characters at most")
	call.Split = false
	require.NoError(t, activities.CheckSplit(call), "Telegram may take it")
}

func TestAHandlerIsToldOfACallThatCannotBeCut(t *testing.T) {
	t.Parallel()
	_, err := handling(t, silent, func(context.Context, contract.Update) ([]contract.Call, error) {
		return []contract.Call{{Method: "sendMessage", Params: map[string]any{"chat_id": 1, "text": " "}, Split: true}}, nil
	})
	require.ErrorContains(t, err, "call sendMessage: the text is empty or blank")
}
