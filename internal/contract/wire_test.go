package contract_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
)

func TestAnUpdateIsDecodedByItsKind(t *testing.T) {
	t.Parallel()
	u := contract.Update{Kind: "message", Raw: json.RawMessage(`{"update_id":1,"message":{"message_id":9,"text":"hi"},"other":{"message_id":1}}`)}
	var m struct {
		MessageID int64 `json:"message_id"`
	}
	require.NoError(t, u.Decode(&m))
	require.Equal(t, int64(9), m.MessageID)

	for _, broken := range []contract.Update{{}, {Kind: "poll", Raw: u.Raw}, {Kind: "message", Raw: json.RawMessage(`{"message":5}`)}} {
		require.Error(t, broken.Decode(&m))
	}
}

func TestTheTextOfAnUpdateIsItsTextOrCaption(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"x":{"text":"hi"}}`:                  "hi",
		`{"x":{"caption":"look"}}`:             "look",
		`{"x":{"text":"hi","caption":"look"}}`: "hi",
		`{"x":{}}`:                             "",
		`{"x":{"text":5}}`:                     "",
		`{"x":[]}`:                             "",
		`garbage`:                              "",
	} {
		require.Equal(t, want, contract.Update{Kind: "x", Raw: json.RawMessage(raw)}.Text(), raw)
	}
}

// What is in a history must stay readable: fields are added, never renamed.
func TestTheInputOfAnUpdateStaysAsItIs(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	in := contract.UpdateInput{
		BotID: 77, UpdateID: 5, Kind: "message", ChatID: -1001234567890123, UserID: 9007199254740993, CallbackID: "cb", ReceivedAt: at,
		After: "update/77/4", Dead: contract.ReasonTooLarge, Expired: true, Attributes: true,
		Handling: contract.Handling{Timeout: time.Second, Attempts: 3, AnswerCallbacks: true},
	}
	wire := `{"bot_id":"77","update_id":5,"kind":"message","chat_id":"-1001234567890123","user_id":"9007199254740993",
		"callback_id":"cb","received_at":"2026-01-02T03:04:05Z","after":"update/77/4","dead":"too_large","expired":true,
		"handling":{"timeout":1000000000,"attempts":3,"answer_callbacks":true},"attributes":true}`
	data, err := json.Marshal(in)
	require.NoError(t, err)
	require.JSONEq(t, wire, string(data))
	var back contract.UpdateInput
	require.NoError(t, json.Unmarshal([]byte(wire), &back))
	require.Equal(t, in, back)
}

func TestALedgerStaysAsItIs(t *testing.T) {
	t.Parallel()
	ledger := contract.Ledger{
		Attempt: 3, Failures: 1, Floods: 2, InFlight: true, PossibleDuplicate: true,
		FailingSince: time.Unix(5, 0).UTC(), MovedTo: -1001234567890123, Error: "e",
	}
	data, err := json.Marshal(ledger)
	require.NoError(t, err)
	require.JSONEq(t, `{"attempt":3,"failures":1,"floods":2,"in_flight":true,"possible_duplicate":true,
		"failing_since":"1970-01-01T00:00:05Z","moved_to":"-1001234567890123","error":"e"}`, string(data))
	var back contract.Ledger
	require.NoError(t, json.Unmarshal(data, &back))
	require.Equal(t, ledger, back)
	data, err = json.Marshal(contract.Ledger{})
	require.NoError(t, err)
	require.JSONEq(t, `{"attempt":0}`, string(data))
}

func TestACallInsideAnInputKeepsItsParams(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(contract.SendInput{Call: contract.Call{Method: "sendMessage", Params: json.RawMessage(`{"z":9007199254740993,"a":1}`)}})
	require.NoError(t, err)
	var back contract.SendInput
	require.NoError(t, json.Unmarshal(data, &back))
	requireBytes(t, `{"z":9007199254740993,"a":1}`, back.Call.Params)
}

func TestAResultOfNothingSpecialIsShort(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(contract.UpdateResult{Outcome: contract.Done, Calls: []contract.CallResult{
		{Method: "sendMessage", ChatID: "42", Outcome: contract.Delivered, MessageID: "7"},
	}})
	require.NoError(t, err)
	require.JSONEq(t, `{"outcome":"done","calls":[{"method":"sendMessage","chat_id":"42","outcome":"delivered","message_id":"7"}]}`, string(data))
}

func TestAMessageStaysAsItIs(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	in := contract.MessageInput{
		BotID: 77, Key: "order-9", Call: contract.Call{Method: "sendMessage", Params: json.RawMessage(`{"chat_id":1}`)},
		Deadline: at, NotBefore: at, Overtaken: true, Ledger: &contract.Ledger{Attempt: 1},
	}
	wire := `{"bot_id":"77","key":"order-9","call":{"method":"sendMessage","params":{"chat_id":1}},"deadline":"2026-01-02T03:04:05Z",
		"not_before":"2026-01-02T03:04:05Z","overtaken":true,"ledger":{"attempt":1}}`
	data, err := json.Marshal(in)
	require.NoError(t, err)
	require.JSONEq(t, wire, string(data))
	var back contract.MessageInput
	require.NoError(t, json.Unmarshal([]byte(wire), &back))
	require.Equal(t, in, back)
}

func TestTheInputsOfActivitiesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for wire, in := range map[string]any{
		`{"update_id":5,"kind":"message","chat_id":"-42","user_id":"7","received_at":"2026-01-02T03:04:05Z"}`: contract.HandleInput{
			UpdateID: 5, Kind: "message", ChatID: -42, UserID: 7, ReceivedAt: at,
		},
		`{"self":"update/77/2","after":"update/77/1"}`:    contract.TurnInput{Self: "update/77/2", After: "update/77/1"},
		`{"self":"update/77/1","askers":["update/77/2"]}`: contract.PassInput{Self: "update/77/1", Askers: []string{"update/77/2"}},
		`{"self":"update/77/1"}`:                          contract.PassInput{Self: "update/77/1"},
		`{"call":{"method":"getMe"},"deadline":"2026-01-02T03:04:05Z","holds_turn":true}`: contract.SendInput{
			Call: contract.Call{Method: "getMe"}, Deadline: at, HoldsTurn: true,
		},
	} {
		data, err := json.Marshal(in)
		require.NoError(t, err)
		require.JSONEq(t, wire, string(data))
	}
}
