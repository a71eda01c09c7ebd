package starter_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/starter"
)

// kindRows has a row for each update kind of Bot API 10.3 ("Getting updates"),
// and more for those that come in several shapes.
var kindRows = []struct {
	name, kind, object string
	chat, user         int64
	key                string
}{
	{"message", "message", `{"message_id":1,"date":5,"chat":{"id":42},"from":{"id":7}}`, 42, 7, "chat/42"},
	{"message of a group", "message", `{"chat":{"id":-1001234567890123},"from":{"id":7}}`, -1001234567890123, 7, "chat/-1001234567890123"},
	{"message of a group that is anonymous", "message", `{"chat":{"id":-5},"sender_chat":{"id":-5}}`, -5, 0, "chat/-5"},
	{"edited message", "edited_message", `{"date":5,"edit_date":9,"chat":{"id":42},"from":{"id":7}}`, 42, 7, "chat/42"},
	{"channel post", "channel_post", `{"chat":{"id":-100}}`, -100, 0, "chat/-100"},
	{"edited channel post", "edited_channel_post", `{"chat":{"id":-100}}`, -100, 0, "chat/-100"},
	{"business connection", "business_connection", `{"id":"bc","user":{"id":7},"user_chat_id":7}`, 0, 7, "user/7"},
	{"business message", "business_message", `{"business_connection_id":"bc","chat":{"id":42},"from":{"id":7}}`, 42, 7, "business/bc/chat/42"},
	{"edited business message", "edited_business_message", `{"business_connection_id":"bc","chat":{"id":42}}`, 42, 0, "business/bc/chat/42"},
	{"deleted business messages", "deleted_business_messages", `{"business_connection_id":"bc","chat":{"id":42},"message_ids":[1]}`, 42, 0, "business/bc/chat/42"},
	{"guest message", "guest_message", `{"guest_query_id":"g1","chat":{"id":42},"from":{"id":7}}`, 42, 7, "business/g1/chat/42"},
	{"message reaction", "message_reaction", `{"chat":{"id":42},"user":{"id":7}}`, 42, 7, "chat/42"},
	{"message reaction count", "message_reaction_count", `{"chat":{"id":42},"reactions":[]}`, 42, 0, "chat/42"},
	{"inline query", "inline_query", `{"id":"q","from":{"id":7},"query":"","chat_type":"private"}`, 0, 7, "user/7"},
	{"chosen inline result", "chosen_inline_result", `{"result_id":"r","from":{"id":7}}`, 0, 7, "user/7"},
	{"callback query", "callback_query", `{"id":"cb","from":{"id":7},"message":{"chat":{"id":42},"date":0}}`, 42, 7, "chat/42"},
	{"callback query of an inline message", "callback_query", `{"id":"cb","from":{"id":7},"inline_message_id":"i"}`, 0, 7, "user/7"},
	{"shipping query", "shipping_query", `{"id":"q","from":{"id":7}}`, 0, 7, "user/7"},
	{"pre checkout query", "pre_checkout_query", `{"id":"q","from":{"id":7}}`, 0, 7, "user/7"},
	{"purchased paid media", "purchased_paid_media", `{"from":{"id":7},"paid_media_payload":"x"}`, 0, 7, "user/7"},
	{"poll", "poll", `{"id":"123","question":"?"}`, 0, 0, ""},
	{"poll answer", "poll_answer", `{"poll_id":"123","user":{"id":7}}`, 0, 7, "user/7"},
	{"poll answer of a channel", "poll_answer", `{"poll_id":"123","voter_chat":{"id":-100}}`, 0, 0, ""},
	{"my chat member", "my_chat_member", `{"chat":{"id":42},"from":{"id":7},"date":5}`, 42, 7, "chat/42"},
	{"chat member", "chat_member", `{"chat":{"id":-42},"from":{"id":7},"date":5}`, -42, 7, "chat/-42"},
	{"chat join request", "chat_join_request", `{"chat":{"id":-42},"from":{"id":7},"user_chat_id":7}`, -42, 7, "chat/-42"},
	{"chat boost", "chat_boost", `{"chat":{"id":-42},"boost":{}}`, -42, 0, "chat/-42"},
	{"removed chat boost", "removed_chat_boost", `{"chat":{"id":-42}}`, -42, 0, "chat/-42"},
	{"managed bot", "managed_bot", `{"user":{"id":7},"bot":{"id":8}}`, 0, 7, "user/7"},
	{"subscription", "subscription", `{"user":{"id":7}}`, 0, 7, "user/7"},
	{"stopped message generation", "stopped_message_generation", `{"chat":{"id":42},"draft_id":1}`, 42, 0, "chat/42"},
}

func TestEveryKindHasItsChatUserAndRow(t *testing.T) {
	t.Parallel()
	for _, row := range kindRows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r, err := starter.ParseRoute(json.RawMessage(`{"update_id":5001,"` + row.kind + `":` + row.object + `}`))
			require.NoError(t, err)
			require.Equal(t, int64(5001), r.UpdateID)
			require.Equal(t, row.kind, r.Kind)
			require.Equal(t, row.chat, r.ChatID)
			require.Equal(t, row.user, r.UserID)
			require.Equal(t, row.key, r.OrderKey)
		})
	}
}

func TestEveryKnownKindHasARowInTheTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, row := range kindRows {
		seen[row.kind] = true
	}
	for _, kind := range starter.KnownKinds() {
		require.True(t, seen[kind], "no row for %s", kind)
	}
	require.Len(t, seen, len(starter.KnownKinds()))
}

func TestAKnownKindOfAWrongShapeKeepsItsID(t *testing.T) {
	t.Parallel()
	for _, kind := range starter.KnownKinds() {
		for _, object := range []string{`[]`, `"text"`, `5`, `true`, `{"chat":"x"}`, `{"from":[]}`, `{"chat":{"id":1.5}}`, `{"date":"soon"}`} {
			r, err := starter.ParseRoute(json.RawMessage(`{"update_id":9,"` + kind + `":` + object + `}`))
			require.ErrorIs(t, err, starter.ErrShape, "%s: %s", kind, object)
			require.Equal(t, starter.Route{UpdateID: 9, Kind: kind}, r)
		}
	}
}

func TestAWrongShapeIsNotQuoted(t *testing.T) {
	t.Parallel()
	_, err := starter.ParseRoute(json.RawMessage(`{"update_id":9,"message":{"chat":{"id":"my secret"}}}`))
	require.ErrorIs(t, err, starter.ErrShape)
	require.NotContains(t, err.Error(), "secret")
}

func TestAnUnknownKindIsStoredWithoutARow(t *testing.T) {
	t.Parallel()
	for _, object := range []string{`{"chat":{"id":42}}`, `[]`, `"x"`, `7`} {
		r, err := starter.ParseRoute(json.RawMessage(`{"update_id":9,"hologram_call":` + object + `}`))
		require.NoError(t, err)
		require.Equal(t, starter.Route{UpdateID: 9, Kind: "hologram_call"}, r)
	}
}

func TestFieldsNobodyKnowsAreHarmless(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`{"update_id":9,"message":{"chat":{"id":42,"aura":{}},"from":{"id":7},"zzz":[1,{"id":"x"}]}}`,
		`{"update_id":9,"aaa_new_flag":true,"message":{"chat":{"id":42},"from":{"id":7}}}`,
		`{"zzz":1,"message":{"chat":{"id":42},"from":{"id":7}},"update_id":9}`,
		`{"update_id":9,"callback_query":null,"message":{"chat":{"id":42},"from":{"id":7}}}`,
	} {
		r, err := starter.ParseRoute(json.RawMessage(raw))
		require.NoError(t, err)
		require.Equal(t, "message", r.Kind, raw)
		require.Equal(t, "chat/42", r.OrderKey)
	}
}

func TestIDsAreReadAsNumbersStringsAndFloats(t *testing.T) {
	t.Parallel()
	for _, n := range []string{`42`, `"42"`, `42.0`, `4.2e1`, `"42.0"`} {
		r, err := starter.ParseRoute(json.RawMessage(`{"update_id":` + n + `,"message":{"date":` + n + `,"chat":{"id":` + n + `},"from":{"id":` + n + `}}}`))
		require.NoError(t, err, n)
		require.Equal(t, int64(42), r.UpdateID, n)
		require.Equal(t, int64(42), r.ChatID, n)
		require.Equal(t, int64(42), r.UserID, n)
		require.Equal(t, time.Unix(42, 0), r.Date, n)
	}
}

func TestIDsAreExactBeyondWhatAFloatHoldsAndNullIsNone(t *testing.T) {
	t.Parallel()
	r, err := starter.ParseRoute(json.RawMessage(`{"update_id":9,"message":{"chat":{"id":-9007199254740993},"from":{"id":"9007199254740993"}}}`))
	require.NoError(t, err)
	require.Equal(t, int64(-9007199254740993), r.ChatID)
	require.Equal(t, int64(9007199254740993), r.UserID)
	r, err = starter.ParseRoute(json.RawMessage(`{"update_id":9,"message":{"date":null,"edit_date":null,"chat":{"id":null},"from":null}}`))
	require.NoError(t, err)
	require.Equal(t, starter.Route{UpdateID: 9, Kind: "message"}, r)
}

func TestWithoutAnUpdateIDThereIsNoRoute(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		``, ` `, `null`, `true`, `5`, `"x"`, `[]`, `{}`, `{"update_id":5`, `<html>`,
		`{"update_id":null}`, `{"update_id":"null"}`, `{"update_id":""}`, `{"update_id":true}`, `{"update_id":{}}`,
		`{"update_id":[5]}`, `{"update_id":1.5}`, `{"update_id":"five"}`, `{"update_id":1e300}`, `{"update_id":"NaN"}`,
		`{"update_id":"Inf"}`, `{"Update_ID":5}`, `{"message":{"chat":{"id":1}}}`,
		`{"update_id":-1}`, `{"update_id":9007199254740992}`, `{"update_id":9223372036854775807}`,
	} {
		r, err := starter.ParseRoute(json.RawMessage(raw))
		require.ErrorIs(t, err, starter.ErrNoUpdateID, raw)
		require.Zero(t, r)
	}
}

func TestOfACallbackQueryTheIDIsKept(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`{"id":"4382bfdwdsb323b2d9"}`: "4382bfdwdsb323b2d9",
		`{"id":17}`:                   "",
		`{}`:                          "",
	} {
		r, err := starter.ParseRoute(json.RawMessage(`{"update_id":9,"callback_query":` + object + `}`))
		require.NoError(t, err)
		require.Equal(t, want, r.CallbackID)
	}
	r, err := starter.ParseRoute(json.RawMessage(`{"update_id":9,"inline_query":{"id":"q"}}`))
	require.NoError(t, err)
	require.Empty(t, r.CallbackID)
}

func TestTheDateIsThatOfTheLastEdit(t *testing.T) {
	t.Parallel()
	r, err := starter.ParseRoute(json.RawMessage(`{"update_id":9,"edited_message":{"date":100,"edit_date":900}}`))
	require.NoError(t, err)
	require.Equal(t, time.Unix(900, 0), r.Date)
	r, err = starter.ParseRoute(json.RawMessage(`{"update_id":9,"callback_query":{"message":{"date":100}}}`))
	require.NoError(t, err)
	require.Zero(t, r.Date, "when the button was pressed is not told")
}

func TestAMigrationIsReadFromBothSides(t *testing.T) {
	t.Parallel()
	for object, want := range map[string][2]int64{
		`"message":{"chat":{"id":-5},"migrate_to_chat_id":-1001234567890123}`:     {-1001234567890123, 0},
		`"message":{"chat":{"id":-1001234567890123},"migrate_from_chat_id":-5}`:   {0, -5},
		`"message":{"chat":{"id":-5},"migrate_to_chat_id":"-1001234567890123"}`:   {-1001234567890123, 0},
		`"message":{"chat":{"id":-5},"migrate_to_chat_id":null}`:                  {},
		`"message":{"chat":{"id":-5},"pinned_message":{"migrate_to_chat_id":-6}}`: {},
		`"callback_query":{"message":{"chat":{"id":-5},"migrate_to_chat_id":-6}}`: {},
		`"edited_message":{"chat":{"id":-5},"migrate_to_chat_id":-6}`:             {},
		`"business_message":{"chat":{"id":5},"migrate_to_chat_id":-6}`:            {},
		`"hologram_call":{"chat":{"id":5},"migrate_to_chat_id":-6}`:               {},
	} {
		r, err := starter.ParseRoute(json.RawMessage(`{"update_id":9,` + object + `}`))
		require.NoError(t, err, object)
		require.Equal(t, want, [2]int64{r.MigratedTo, r.MigratedFrom}, object)
	}
	_, err := starter.ParseRoute(json.RawMessage(`{"update_id":9,"message":{"migrate_to_chat_id":"soon"}}`))
	require.ErrorIs(t, err, starter.ErrShape)
}

func TestABotThatWasBlockedOrRemovedIsOut(t *testing.T) {
	t.Parallel()
	for member, want := range map[string]bool{
		`{"status":"kicked"}`: true, `{"status":"left"}`: true,
		`{"status":"member"}`: false, `{"status":"administrator"}`: false, `{"status":"restricted"}`: false,
		`{"status":7}`: false, `{}`: false, `null`: false, `"kicked"`: false,
	} {
		for kind, counts := range map[string]bool{"my_chat_member": true, "chat_member": false, "message": false} {
			r, err := starter.ParseRoute(json.RawMessage(`{"update_id":9,"` + kind + `":{"chat":{"id":5},"new_chat_member":` + member + `}}`))
			require.NoError(t, err)
			require.Equal(t, want && counts, r.BotOut, "%s %s", kind, member)
		}
	}
}

func TestAKindNameThatIsNoneCountsAsAbsent(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "has space", "Ünïcode", "a/b", strings.Repeat("x", 65), "line\\nbreak"} {
		r, err := starter.ParseRoute(json.RawMessage(`{"update_id":9,"` + name + `":{}}`))
		require.NoError(t, err)
		require.Equal(t, starter.Route{UpdateID: 9}, r)
	}
}

func FuzzARouteHasTheIDThatIsInTheJSON(f *testing.F) {
	for _, row := range kindRows {
		f.Add([]byte(`{"update_id":5001,"` + row.kind + `":` + row.object + `}`))
	}
	f.Add([]byte(`{"update_id":5,"message":{"chat":{"id":-5},"migrate_to_chat_id":-1005,"migrate_from_chat_id":"x"}}`))
	f.Add([]byte(`{"update_id":5,"my_chat_member":{"chat":{"id":5},"new_chat_member":{"status":"kicked"}}}`))
	for _, raw := range []string{``, `null`, `{"update_id":-5}`, `{"update_id":"12"}`, `{"update_id":1e3,"x":null}`, `{"update_id":1,"update_id":2}`} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := starter.ParseRoute(raw)
		if err != nil {
			require.True(t, r.OrderKey == "" && r.ChatID == 0 && r.MigratedTo == 0 && r.MigratedFrom == 0)
			return
		}
		var fields map[string]any
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		require.NoError(t, dec.Decode(&fields))
		require.GreaterOrEqual(t, r.UpdateID, int64(0))
		switch id := fields["update_id"].(type) {
		case json.Number:
			n, err := id.Float64()
			require.NoError(t, err)
			require.InDelta(t, n, float64(r.UpdateID), 0)
		case string:
			require.NotEmpty(t, id)
		default:
			require.Failf(t, "no update_id", "%T", id)
		}
		if r.Kind != "" {
			require.Contains(t, fields, r.Kind)
		}
	})
}
