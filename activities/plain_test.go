package activities_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
)

const entities = "Bad Request: can't parse entities: Can't find end of the entity starting at byte offset 118"

// formatted is a message with markup that may go without.
func formatted() contract.SendInput {
	in := message()
	in.Call.Params = json.RawMessage(`{"chat_id":42,"text":"a < _b & c","parse_mode":"MarkdownV2","big":9007199254740993}`)
	in.Call.PlainFallback = true
	return in
}

// requireWritten compares texts: JSON that only means the same will not do.
func requireWritten(t *testing.T, want, got string) {
	t.Helper()
	require.Equal(t, []byte(want), []byte(got))
}

func TestATextThatCannotBeParsedIsSentOnceMoreAsItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.api.script = []error{answered(400, entities)}
	res, err := w.attempt(t, 1, formatted())
	require.NoError(t, err)
	require.Equal(t, contract.Delivered, res.Outcome)
	require.True(t, res.Degraded)
	require.Equal(t, 1, res.Attempts)
	require.Len(t, w.api.sent(), 2)
	requireWritten(t, `{"big":9007199254740993,"chat_id":42,"text":"a < _b & c"}`, w.api.sent()[1].params)
	require.Len(t, w.budget.wants, 2, "a grant for each request")
	require.Equal(t, 2, w.budget.done)
	require.True(t, w.recorder.last().Degraded)
}

func TestOnlyATextThatCannotBeParsedGoesPlain(t *testing.T) {
	t.Parallel()
	away := func(in *contract.SendInput) { in.Call.PlainFallback = false }
	bare := func(in *contract.SendInput) { in.Call.Params = json.RawMessage(`{"chat_id":42,"text":"parse_mode"}`) }
	quoted := "Bad Request: unsupported URL 'can't parse entities: x'"
	for name, c := range map[string]struct {
		answer error
		change func(*contract.SendInput)
	}{
		"the call does not want it":  {answered(400, entities), away},
		"it has no parse_mode":       {answered(400, entities), bare},
		"another 400":                {answered(400, "Bad Request: message text is empty"), nil},
		"a 400 that quotes it":       {answered(400, quoted), nil},
		"a part of an album is sent": {answered(400, `Bad Request: failed to send message #1 with the error message "can't parse entities: x"`), nil},
		"an object of another kind":  {answered(400, "Bad Request: can't parse reply keyboard markup JSON object"), nil},
		"not a 400":                  {answered(403, entities), nil},
		"429":                        {limited(time.Second), nil},
		"nobody knows":               {page(502), nil},
		"reset":                      {reset, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.api.script = []error{c.answer}
			in := formatted()
			if c.change != nil {
				c.change(&in)
			}
			_, err := w.attempt(t, 1, in)
			require.False(t, detail(t, direct(t, err)).Degraded)
			require.Len(t, w.api.sent(), 1)
		})
	}
}

func TestWithoutAFallbackTheRefusalNamesThePlaceAndNoText(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		entities: "telegram: sendMessage: status 400: " + entities,
		"Bad Request: can't parse entities: unsupported start tag \"secret\" at byte offset 118": `telegram: sendMessage: status 400: ` +
			`Bad Request: can't parse entities: unsupported start tag "…" at byte offset 118`,
		"Bad Request: can't parse entities: character '.' is reserved and must be escaped with the preceding '\\'": `telegram: sendMessage: status 400: ` +
			`Bad Request: can't parse entities: character '.' is reserved and must be escaped with the preceding '\'`,
	} {
		w := newWorld(t)
		w.api.script = []error{answered(400, said)}
		in := message()
		in.Call.Params = json.RawMessage(`{"chat_id":42,"text":"<secret> byte offset 118.","parse_mode":"HTML"}`)
		_, err := w.attempt(t, 1, in)
		require.Equal(t, contract.FailureRejected, direct(t, err).Type())
		require.Equal(t, want, detail(t, direct(t, err)).Error)
	}
}

func TestThePlaceSurvivesWhateverTheTextIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[<>"' a-z0-9]{0,60}`), rapid.Just(entities)).Draw(r, "text")
		params, err := json.Marshal(map[string]any{"text": text, "parse_mode": "HTML"})
		require.NoError(t, err)
		require.Equal(t, entities, activities.Quiet(entities, string(params)))
	})
}

func TestACallThatWentPlainStaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.api.script = []error{answered(400, entities), refused}
	_, err := w.attempt(t, 1, formatted())
	require.Equal(t, contract.FailureUnavailable, direct(t, err).Type())
	require.True(t, detail(t, direct(t, err)).Degraded)
	res, err := w.attempt(t, 2, formatted())
	require.NoError(t, err)
	require.True(t, res.Degraded)
	require.Len(t, w.api.sent(), 3)
	require.NotContains(t, w.api.sent()[2].params, "parse_mode")
}

func TestATextThatIsRefusedPlainIsRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.api.script = []error{answered(400, entities), answered(400, entities)}
	_, err := w.attempt(t, 1, formatted())
	require.Equal(t, contract.FailureRejected, direct(t, err).Type())
	require.True(t, detail(t, direct(t, err)).Degraded)
	require.Len(t, w.api.sent(), 2)
}

func TestAfterAnUnknownOutcomeOnlyWhatMayBeRepeatedGoesPlain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*contract.SendInput)
		sent   int
	}{
		"a message": {func(*contract.SendInput) {}, 1},
		"an edit": {func(in *contract.SendInput) {
			in.Call.Method, in.Call.Params = "editMessageText", json.RawMessage(`{"chat_id":42,"message_id":1,"text":"_","parse_mode":"HTML"}`)
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.as(contract.Ledger{Attempt: 1, Failures: 1, PossibleDuplicate: true})
			w.api.script = []error{answered(400, entities)}
			in := formatted()
			c.change(&in)
			res, err := w.attempt(t, 2, in)
			require.Len(t, w.api.sent(), c.sent)
			require.Equal(t, c.sent == 2, err == nil)
			require.Equal(t, c.sent == 2, res.Degraded)
		})
	}
}

func TestACallMayMoveAndGoPlainInOneAttempt(t *testing.T) {
	t.Parallel()
	for name, script := range map[string][]error{
		"first the chat": {migrated(supergroup), answered(400, entities)},
		"first the text": {answered(400, entities), migrated(supergroup)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.api.script = script
			in := formatted()
			in.Call.Delivery = contract.AtMostOnce
			res, err := w.attempt(t, 1, in)
			require.NoError(t, err)
			require.True(t, res.Degraded)
			require.Equal(t, "-1002000000001", res.MovedTo)
			require.Len(t, w.api.sent(), 3)
			requireWritten(t, `{"big":9007199254740993,"chat_id":-1002000000001,"text":"a < _b & c"}`, w.api.sent()[2].params)
			marks := []bool{}
			for _, l := range w.recorder.ledgers {
				marks = append(marks, l.InFlight)
			}
			require.Equal(t, []bool{true, false, true, false, true}, marks, "each request has a mark of its own")
		})
	}
}

func TestGoingPlainWaitsForTheBudgetLikeAnyRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.api.script = []error{answered(400, entities)}
	w.budget.acquire = func(context.Context) error {
		if len(w.budget.wants) == 2 {
			return paced{in: 9 * time.Second}
		}
		return nil
	}
	_, err := w.attempt(t, 1, formatted())
	require.Equal(t, contract.FailurePaced, direct(t, err).Type())
	require.Len(t, w.api.sent(), 1)
	require.True(t, w.recorder.last().Degraded, "the next attempt goes plain at once")
}

func TestEveryParseModeOfTheBotAPIIsTakenOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ params, want string }{
		"a caption": {`{"caption":"_","parse_mode":"HTML","document":{"@file":"/a"}}`, `{"caption":"_","document":{"@file":"/a"}}`},
		"an album":  {`{"media":[{"caption":"_","parse_mode":"HTML"},{"type":"photo"}]}`, `{"media":[{"caption":"_"},{"type":"photo"}]}`},
		"an album in a string": {
			`{"media":"[{\"caption\":\"<&\",\"parse_mode\":\"HTML\"}]"}`, `{"media":"[{\"caption\":\"<&\"}]"}`,
		},
		"a poll": {
			`{"explanation_parse_mode":"HTML","options":[{"text":"a","text_parse_mode":"HTML"}],"question":"?","question_parse_mode":"HTML"}`,
			`{"options":[{"text":"a"}],"question":"?"}`,
		},
		"a quotation": {`{"reply_parameters":{"message_id":1,"quote_parse_mode":"HTML"}}`, `{"reply_parameters":{"message_id":1}}`},
		"an inline query": {
			`{"results":[{"input_message_content":{"message_text":"_","parse_mode":"HTML"}}]}`,
			`{"results":[{"input_message_content":{"message_text":"_"}}]}`,
		},
		"entities that it kept from counting": {
			`{"text":"_","parse_mode":"HTML","entities":[{}],"caption_entities":[],"question_entities":[1],"question_parse_mode":"HTML"}`, `{"text":"_"}`,
		},
		"entities of another text": {
			`{"entities":[{}],"question_parse_mode":"HTML"}`, `{"entities":[{}]}`,
		},
		"a word that ends like it":  {`{"sparse_mode":1,"parse_mode":""}`, `{"sparse_mode":1}`},
		"a text that looks like it": {`{"text":"{\"parse_mode\":\"HTML\"}","parse_mode":"HTML"}`, `{"text":"{\"parse_mode\":\"HTML\"}"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, changed := activities.Plain(json.RawMessage(c.params))
			require.True(t, changed)
			require.Equal(t, c.want, string(got))
			again, changed := activities.Plain(got)
			require.False(t, changed)
			require.Equal(t, got, again)
		})
	}
}

// drawParams draws parameters with a parse_mode in some places, and the same
// without.
func drawParams(r *rapid.T, depth int) (with, without map[string]any) {
	with, without = map[string]any{}, map[string]any{}
	for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"text", "media", "n", "a"}), rapid.ID).Draw(r, "names") {
		switch kind := rapid.IntRange(0, 3).Draw(r, "kind"); {
		case kind == 0 && depth > 0:
			with[name], without[name] = drawParams(r, depth-1)
		case kind == 1 && depth > 0:
			one, other := drawParams(r, depth-1)
			with[name], without[name] = []any{one, "x"}, []any{other, "x"}
		case kind == 2:
			with[name] = json.Number(rapid.StringMatching(`[1-9][0-9]{0,25}`).Draw(r, "number"))
			without[name] = with[name]
		default:
			with[name] = rapid.String().Draw(r, "text")
			without[name] = with[name]
		}
	}
	for _, mode := range rapid.SliceOf(rapid.SampledFrom([]string{"parse_mode", "quote_parse_mode"})).Draw(r, "modes") {
		with[mode] = "HTML"
	}
	return with, without
}

func TestNothingButTheParseModesIsTakenOut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		with, without := drawParams(r, 3)
		params, err := contract.Call{Params: with}.Object()
		require.NoError(t, err)
		want, err := contract.Call{Params: without}.Object()
		require.NoError(t, err)
		got, _ := activities.Plain(params)
		require.Equal(t, string(want), string(got))
	})
}

func FuzzParamsStayAnObject(f *testing.F) {
	f.Add(`{"media":"[{\"parse_mode\":1}]"}`)
	f.Add(`{"parse_mode":null,"a":[[[{"x_parse_mode":[]}]]]}`)
	f.Add(`[{"parse_mode":""}]`)
	f.Add(`{`)
	f.Fuzz(func(t *testing.T, params string) {
		got, changed := activities.Plain(json.RawMessage(params))
		if !changed {
			require.Equal(t, params, string(got))
			return
		}
		require.True(t, json.Valid(got))
		require.Equal(t, strings.TrimSpace(params)[0], got[0])
		_, changed = activities.Plain(got)
		require.False(t, changed)
	})
}

func FuzzARefusalInAnyWordsIsNoPanic(f *testing.F) {
	f.Add(entities)
	f.Add("Bad Request: can't parse inline query result: Can't parse entities: x")
	f.Fuzz(func(t *testing.T, said string) {
		w := newWorld(t)
		w.api.script = []error{&telegram.Error{Method: "sendMessage", Status: 400, Code: 400, Description: said, Written: true}}
		_, _ = w.attempt(t, 1, formatted())
		require.LessOrEqual(t, len(w.api.sent()), 2)
	})
}
