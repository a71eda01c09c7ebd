package contract_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
)

func roundTrip(t *testing.T, c contract.Call) contract.Call {
	t.Helper()
	data, err := json.Marshal(c)
	require.NoError(t, err)
	var back contract.Call
	require.NoError(t, json.Unmarshal(data, &back))
	return back
}

// requireBytes compares text by text: JSON that only means the same will not do.
func requireBytes(t require.TestingT, want string, params any) {
	require.IsType(t, json.RawMessage{}, params)
	require.Equal(t, want, string(params.(json.RawMessage)))
}

func TestParamsCrossTheWireAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	params := `{"zebra":1,"chat_id":-1001234567890123,"big":9007199254740993,"huge":123456789012345678901234567890,"f":1.0,"a":{"z":1e2,"b":[3,2]}}`
	back := roundTrip(t, contract.Call{Method: "sendMessage", Params: json.RawMessage(params)})
	requireBytes(t, params, back.Params)
	require.Equal(t, back, roundTrip(t, back), "however often")
}

func TestEveryFieldOfACallCrossesTheWire(t *testing.T) {
	t.Parallel()
	call := contract.Call{
		Method: "sendMessage", Params: json.RawMessage(`{"chat_id":1}`), Priority: contract.Bulk, Delivery: contract.AtMostOnce,
		TTL: 90 * time.Second, Key: "k", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Independent: true,
	}
	require.Equal(t, call, roundTrip(t, call))
}

func TestACallOfAMethodOnlyIsItsMethodOnly(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(contract.Call{Method: "getMe"})
	require.NoError(t, err)
	require.JSONEq(t, `{"method":"getMe"}`, string(data))
	for _, wire := range []string{`{"method":"getMe"}`, `{"method":"getMe","params":null}`} {
		back := contract.Call{Params: "stale"}
		require.NoError(t, json.Unmarshal([]byte(wire), &back))
		require.Equal(t, contract.Call{Method: "getMe"}, back)
	}
}

func TestACallThatIsNoneDoesNotUnmarshal(t *testing.T) {
	t.Parallel()
	for _, wire := range []string{`[]`, `"x"`, `{"method":5}`, `{"ttl":"1h"}`, `{"at":"soon"}`, `{`} {
		var c contract.Call
		require.Error(t, json.Unmarshal([]byte(wire), &c), wire)
	}
}

type sendMessage struct {
	ChatID int64  `json:"chat_id"`
	Text   string `json:"text,omitempty"`
}

func TestParamsMayBeWhateverMarshalsToAnObject(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		params any
		want   string
	}{
		"map":              {map[string]any{"chat_id": int64(42), "text": "<b>&</b>"}, `{"chat_id":42,"text":"<b>&</b>"}`},
		"struct":           {sendMessage{ChatID: 9007199254740993}, `{"chat_id":9007199254740993}`},
		"pointer":          {&sendMessage{ChatID: 42, Text: "a\u2028b"}, `{"chat_id":42,"text":"a\u2028b"}`},
		"raw":              {json.RawMessage(`{ "chat_id" : 42 }`), `{ "chat_id" : 42 }`},
		"nil":              {nil, `{}`},
		"nil map":          {map[string]any(nil), `{}`},
		"nil pointer":      {(*sendMessage)(nil), `{}`},
		"nil raw":          {json.RawMessage(nil), `{}`},
		"negative chat id": {sendMessage{ChatID: -100}, `{"chat_id":-100}`},
		"chat name":        {map[string]any{"chat_id": "@channel"}, `{"chat_id":"@channel"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sealed, err := contract.Call{Method: "sendMessage", Params: row.params}.Seal()
			require.NoError(t, err)
			raw, ok := sealed.Params.(json.RawMessage)
			require.True(t, ok, "in wire form")
			require.Equal(t, row.want, string(raw))
			again, err := sealed.Seal()
			require.NoError(t, err)
			require.Equal(t, sealed, again)
		})
	}
}

type quoting struct{}

func (quoting) MarshalJSON() ([]byte, error) { return nil, errors.New("cannot marshal my secret") }

func TestSealRefusesWhatCannotBeCalledAndQuotesNoValue(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		call contract.Call
		want string
	}{
		"no method":           {contract.Call{}, `method ""`},
		"method with a slash": {contract.Call{Method: "../getMe"}, `method "../getMe"`},
		"method with a space": {contract.Call{Method: "send Message"}, "no Bot API method name"},
		"priority":            {contract.Call{Method: "sendMessage", Priority: "high"}, `priority "high" is none of urgent, normal, bulk`},
		"delivery":            {contract.Call{Method: "sendMessage", Delivery: "once"}, `delivery "once" is neither at-least-once nor at-most-once`},
		"array":               {contract.Call{Method: "sendMessage", Params: []string{"secret"}}, "params are no JSON object"},
		"string":              {contract.Call{Method: "sendMessage", Params: "secret"}, "params are no JSON object"},
		"raw null":            {contract.Call{Method: "sendMessage", Params: json.RawMessage("null")}, "params are no JSON object"},
		"raw garbage":         {contract.Call{Method: "sendMessage", Params: json.RawMessage(`{"text":"secret"`)}, "params are no JSON object"},
		"raw trailer":         {contract.Call{Method: "sendMessage", Params: json.RawMessage(`{} secret`)}, "params are no JSON object"},
		"function":            {contract.Call{Method: "sendMessage", Params: func() {}}, "unsupported type: func()"},
		"channel inside":      {contract.Call{Method: "sendMessage", Params: map[string]any{"text": "secret", "c": make(chan int)}}, "unsupported type: chan int"},
		"number that is none": {contract.Call{Method: "sendMessage", Params: map[string]any{"n": json.Number("secret")}}, "map[string]interface {} does not marshal"},
		"NaN":                 {contract.Call{Method: "sendMessage", Params: map[string]any{"n": math.NaN()}}, "does not marshal"},
		"marshaller":          {contract.Call{Method: "sendMessage", Params: map[string]any{"n": quoting{}}}, "does not marshal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := row.call.Seal()
			require.ErrorContains(t, err, row.want)
			require.ErrorContains(t, err, "call")
			require.NotContains(t, err.Error(), "secret")
		})
	}
}

func TestALongMethodIsNotQuotedInFull(t *testing.T) {
	t.Parallel()
	_, err := contract.Call{Method: strings.Repeat("my words ", 100)}.Seal()
	require.Error(t, err)
	require.Less(t, len(err.Error()), 120)
}

func TestACallToChatZeroBelongsToNoChat(t *testing.T) {
	t.Parallel()
	for _, params := range []any{
		map[string]any{"chat_id": 0}, map[string]any{"chat_id": "0"}, sendMessage{}, json.RawMessage(`{"chat_id": 0 }`),
	} {
		_, err := contract.Call{Method: "sendMessage", Params: params}.Seal()
		require.ErrorIs(t, err, contract.ErrNoChat)
		require.ErrorContains(t, err, "call sendMessage: ")
	}
	for _, params := range []any{nil, map[string]any{"user_id": 0}, map[string]any{"chat_id": 10}} {
		_, err := contract.Call{Method: "sendMessage", Params: params}.Seal()
		require.NoError(t, err)
	}
}

func TestAnythingFixedIsAccepted(t *testing.T) {
	t.Parallel()
	for _, p := range []contract.Priority{"", contract.Urgent, contract.Normal, contract.Bulk} {
		for _, d := range []contract.Delivery{"", contract.AtLeastOnce, contract.AtMostOnce} {
			_, err := contract.Call{Method: "SENDMESSAGE", Priority: p, Delivery: d}.Seal()
			require.NoError(t, err)
		}
	}
}

func TestACallWithAKeyOrATimeIsAMessageOfItsOwn(t *testing.T) {
	t.Parallel()
	require.False(t, contract.Call{Method: "sendMessage", TTL: time.Hour, Independent: true}.Separate())
	require.True(t, contract.Call{Key: "k"}.Separate())
	require.True(t, contract.Call{At: time.Unix(1, 0)}.Separate())
}

func TestACallLivesADayUnlessItSaysOtherwise(t *testing.T) {
	t.Parallel()
	require.Equal(t, 24*time.Hour, contract.Call{}.Lifetime())
	require.Equal(t, 24*time.Hour, contract.Call{TTL: -1}.Lifetime())
	require.Equal(t, time.Second, contract.Call{TTL: time.Second}.Lifetime())
}

func TestAnswersToQueriesAreKnownByTheirName(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]bool{
		"answerCallbackQuery": true, "ANSWERINLINEQUERY": true, "answerWebAppQuery": true,
		"answer": false, "sendMessage": false, "": false, "getAnswer": false,
	} {
		require.Equal(t, want, contract.Call{Method: method}.AnswersQuery(), method)
	}
}

func FuzzACallKeepsItsParamsOnEveryHop(f *testing.F) {
	for _, seed := range []string{
		`{"method":"sendMessage","params":{"b":9007199254740993,"a":"<&>"}}`, `{"params":null}`, `{"params":[1, 2]}`,
		`{"Method":"x","PARAMS":1,"params":2}`, `{"ttl":5,"at":"2026-01-02T03:04:05Z"}`, `null`, `[]`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var c contract.Call
		if json.Unmarshal(data, &c) != nil {
			return
		}
		if _, ok := c.Params.(json.RawMessage); !ok {
			require.Nil(t, c.Params)
		}
		first, err := json.Marshal(c)
		if err != nil {
			return // a year that RFC 3339 cannot write
		}
		var back contract.Call
		require.NoError(t, json.Unmarshal(first, &back))
		second, err := json.Marshal(back)
		require.NoError(t, err)
		require.True(t, bytes.Equal(first, second), "%s\n%s", first, second)
	})
}

func TestTheHashOfACallIsItsMethodParametersAndPolicy(t *testing.T) {
	t.Parallel()
	hash := func(c contract.Call) string {
		h, err := c.Hash()
		require.NoError(t, err)
		return h
	}
	one := contract.Call{Method: "sendMessage", Params: map[string]any{"chat_id": 1, "text": "a"}}
	same := contract.Call{Method: "sendMessage", Params: json.RawMessage(`{"text":"a", "chat_id":1}`), Key: "k", At: time.Unix(9, 0)}
	require.Equal(t, hash(one), hash(same))
	said := one
	said.Priority, said.Delivery, said.TTL = contract.Normal, contract.AtLeastOnce, contract.DefaultTTL
	require.Equal(t, hash(one), hash(said), "a default is the same said or not")
	for _, change := range []func(*contract.Call){
		func(c *contract.Call) { c.Method = "sendPhoto" },
		func(c *contract.Call) { c.Params = map[string]any{"chat_id": 1, "text": "b"} },
		func(c *contract.Call) { c.Delivery = contract.AtMostOnce },
		func(c *contract.Call) { c.Priority = contract.Bulk },
		func(c *contract.Call) { c.TTL = time.Minute },
	} {
		other := one
		change(&other)
		require.NotEqual(t, hash(one), hash(other))
	}
	_, err := contract.Call{Method: "sendMessage", Params: make(chan int)}.Hash()
	require.Error(t, err)
}
