package contract_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/contract"
)

// These names are in histories, in scripts and in people's heads.
func TestNamesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		contract.TaskQueue(77):                          "durabot-77",
		contract.SendQueue(77, ""):                      "durabot-77-send",
		contract.SendQueue(77, contract.Normal):         "durabot-77-send",
		contract.SendQueue(77, contract.Urgent):         "durabot-77-send-urgent",
		contract.SendQueue(77, contract.Bulk):           "durabot-77-send-bulk",
		contract.AnswerQueue(77):                        "durabot-77-answer",
		contract.DutyQueue(77):                          "durabot-77-duty",
		contract.UpdateID(77, 5001):                     "update/77/5001",
		contract.ReusedUpdateID(77, 5, "0123456789abc"): "update/77/5/01234567",
		contract.MessageID(77, "order-9"):               "message/77/order-9",
		contract.CallKey(5001, 0):                       "update-5001-0",
		contract.UpdateWorkflow:                         "UpdateWorkflow",
		contract.MessageWorkflow:                        "MessageWorkflow",
		contract.HandleActivity:                         "Handle",
		contract.SendActivity:                           "Send",
		contract.WakeMeSignal:                           "wake-me",
		contract.YourTurnSignal:                         "your-turn",
		contract.MemoHash:                               "hash",
		contract.MemoOrder:                              "order",
	} {
		require.Equal(t, want, got)
	}
	require.Equal(t, []string{"TgChat", "TgKind", "TgOutcome"}, contract.SearchAttributes())
}

func TestTwoBotsNeverShareAnID(t *testing.T) {
	t.Parallel()
	require.NotEqual(t, contract.UpdateID(1, 23), contract.UpdateID(12, 3))
	require.NotEqual(t, contract.MessageID(1, "2/3"), contract.MessageID(12, "3"))
}

func TestAnUpdateIDIsFoundInItsWorkflowID(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		update := rapid.Int64Range(0, math.MaxInt64).Draw(t, "update")
		bot := rapid.Int64Range(1, math.MaxInt64).Draw(t, "bot")
		for _, id := range []string{contract.UpdateID(bot, update), contract.ReusedUpdateID(bot, update, "00112233445566")} {
			found, ok := contract.UpdateOf(id)
			require.True(t, ok)
			require.Equal(t, update, found)
		}
	})
}

func TestInOtherWorkflowIDsThereIsNoUpdate(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", "update", "update/77", "update/77/", "update/77/x", "message/77/5", "dead/77/update/5", "update/77/99999999999999999999"} {
		_, ok := contract.UpdateOf(id)
		require.False(t, ok, id)
	}
}

func TestTheAddressOfACallIsAString(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]string{
		`{"chat_id":-1001234567890123}`: "-1001234567890123",
		`{"chat_id":"@name"}`:           "@name",
		`{"chat_id":"42"}`:              "42",
		`{"chat_id":null}`:              "",
		`{"text":"x"}`:                  "",
		`[]`:                            "",
		``:                              "",
	} {
		require.Equal(t, want, contract.Address(json.RawMessage(params)), params)
	}
}
