package starter_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

func TestABroadcastsNameFitsIntoWorkflowIDs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "2030-01-31_news.v2", strings.Repeat("x", 100)} {
		require.NoError(t, starter.CheckBroadcastName(name))
	}
	for _, name := range []string{"", ".a", "-a", "_a", "a/b", "a b", "é", "a\n", strings.Repeat("x", 101)} {
		err := starter.CheckBroadcastName(name)
		require.ErrorContains(t, err, "name: want 1 to 100 letters, digits, dots, dashes and underscores, a letter or a digit first, got ")
		require.NotContains(t, err.Error(), "\n")
	}
}

func call(method, params string) contract.Call {
	return contract.Call{Method: method, Params: json.RawMessage(params)}
}

// requireRefused checks that neither Seal nor Start takes the broadcast.
func requireRefused(t *testing.T, bc starter.Broadcast, want string) {
	t.Helper()
	err := bc.Seal()
	require.ErrorContains(t, err, want)
	require.NotContains(t, err.Error(), "SECRET")
	c := newCrier()
	_, err = launch(t, c, bc)
	require.ErrorContains(t, err, want, "a start seals, too")
	require.Empty(t, c.order)
}

func TestABroadcastThatCannotBeMadeIsRefused(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*starter.Broadcast){
		"name: want 1 to 100":                       func(b *starter.Broadcast) { b.Name = "a/b" },
		"recipients: there are none":                func(b *starter.Broadcast) { b.Recipients = nil },
		"rate: want 0.001 to 1000 recipients a sec": func(b *starter.Broadcast) { b.What.Rate = 0.0009 },
		"got 1000.1":                                func(b *starter.Broadcast) { b.What.Rate = 1000.1 },
		"got NaN":                                   func(b *starter.Broadcast) { b.What.Rate = math.NaN() },
		"got -1":                                    func(b *starter.Broadcast) { b.What.Rate = -1 },
		"is no Bot API method name":                 func(b *starter.Broadcast) { b.What.Call.Method = "send message" },
		"priority: a broadcast is always bulk":      func(b *starter.Broadcast) { b.What.Call.Priority = contract.Normal },
		"call sendMessage: key, at and independent": func(b *starter.Broadcast) { b.What.Call.Key = "k" },
		"key, at and independent are of single":     func(b *starter.Broadcast) { b.What.Call.At = time.Now() },
		"at and independent are of single calls":    func(b *starter.Broadcast) { b.What.Call.Independent = true },
		"split: what a broadcast sends":             func(b *starter.Broadcast) { b.What.Call.Split = true },
	} {
		bc := news("n", people(2, map[string]string{"f": "SECRET"}))
		change(&bc)
		requireRefused(t, bc, want)
	}
}

func TestACallThatCannotBeBroadcastIsRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 4097)
	for want, c := range map[string]contract.Call{
		"call getChat: it reads, or answers one query":             call("getChat", `{}`),
		"call answerWebAppQuery: it reads, or answers one query":   call("answerWebAppQuery", `{}`),
		"call sendDice: chat_id: each recipient's":                 call("sendDice", `{"chat_id":5}`),
		"call m: chat_id: each recipient's":                        call("m", `{"chat_id":null}`),
		"call sendPoll: want at most 131072 bytes, got 131076":     call("sendPoll", `{"x":"`+strings.Repeat("x", 131_010)+`"}`),
		"bytes, got 180066":                                        call("sendPoll", `{"x":"`+strings.Repeat("<", 30_000)+`"}`),
		"call sendMessage: the text is empty or blank":             call("sendMessage", `{"text":" "}`),
		"call sendMessage: the text is too long: a message has":    call("sendMessage", `{"text":"`+long+`"}`),
		"call sendPhoto: the text is too long: a message has 4096": call("sendPhoto", `{"caption":"`+long[:2050]+`"}`),
		"call sendMediaGroup: media 1: the text is too long":       call("sendMediaGroup", `{"media":[{"caption":"`+long+`"}]}`),
		"call forwardMessage: Telegram takes no payment":           call("forwardMessage", `{"allow_paid_broadcast":true}`),
	} {
		bc := news("n", people(2, nil))
		bc.What.Call = c
		requireRefused(t, bc, want)
	}
	for want, c := range map[string]contract.Call{
		"call sendMessage: text: line 1 of the template cannot": call("sendMessage", `{"text":"SECRET {{x"}`),
		"call sendDice: allow_paid_broadcast: it is among":      call("sendDice", `{"allow_paid_broadcast":false}`),
		"call pinChatMessage: Telegram takes no payment":        call("pinChatMessage", `{}`),
	} {
		bc := news("n", people(2, nil))
		bc.What.Call, bc.What.Template, bc.Paid = c, true, c.Method != "sendMessage"
		requireRefused(t, bc, want)
	}
}

func TestWhatIsWrongWithARecipientNamesItsPlace(t *testing.T) {
	t.Parallel()
	fields := func(value string) map[string]string { return map[string]string{"name": value} }
	for want, last := range map[string]contract.Recipient{
		"text: the field name is missing":                                {Chat: "9"},
		"the text is too long: a message has 4096 characters at most":    {Chat: "9", Fields: fields(strings.Repeat("x", 4097))},
		"the text is empty or blank, and Telegram takes no such message": {Chat: "9", Fields: fields("")},
		"chat_id: 1 is that of recipient 1, too":                         {Chat: "1", Fields: fields("x")},
		"chat_id: @nAmE is that of recipient 2, too":                     {Chat: "@nAmE", Fields: fields("x")},
		"chat_id: 0 is no chat":                                          {Chat: "0", Fields: fields("x")},
		"chat_id: there is white space around it":                        {Chat: "9 ", Fields: fields("x")},
		"want at most 16384 bytes with its fields, got 18038":            {Chat: "9", Fields: fields(strings.Repeat("<", 3000) + "xx")},
	} {
		bc := news("n", append([]contract.Recipient{{Chat: "1", Fields: fields("x")}, {Chat: "@Name", Fields: fields("x")}}, last))
		bc.What = contract.BroadcastCall{Call: call("sendMessage", `{"text":"{{.name}}"}`), Template: true}
		err := bc.Seal()
		wrong := new(starter.RecipientError)
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, 2, wrong.Index)
		require.ErrorContains(t, wrong, "recipient 3: "+want)
		require.ErrorContains(t, wrong.Unwrap(), want)
	}
}

func TestWhatTelegramMayTakeIsNotRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []contract.Call{
		call("sendMessage", `{"text":"<b>`+strings.Repeat("x", 4096)+`</b>","parse_mode":"HTML"}`),
		call("sendMessage", `{"text":"*`+strings.Repeat("x", 4096)+`*","parse_mode":"Markdown"}`),
		call("sendMessage", `{"text":"`+strings.Repeat("😀", 4096)+`"}`),
		call("sendSomethingNew", `{}`), call("leaveChat", `{}`),
		{Method: "leaveChat"},
		call("copyMessage", `{"from_chat_id":5,"message_id":1}`),
		{Method: "sendDice", Priority: contract.Bulk, Delivery: contract.AtMostOnce, TTL: time.Hour, PlainFallback: true},
	} {
		bc := news("n", people(1, nil))
		bc.What.Call = c
		require.NoError(t, bc.Seal(), c.Method)
	}
}

func TestPaidAndItsParameterSayTheSame(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]string{
		`{"text":"x", "n":1.50 } `: `{"text":"x", "n":1.50 ,"allow_paid_broadcast":true}`,
		`{}`:                       `{"allow_paid_broadcast":true}`,
		`{"allow_paid_broadcast":true,"text":"x"}`:   `{"allow_paid_broadcast":true,"text":"x"}`,
		`{"allow_paid_broadcast":"True","text":"x"}`: `{"allow_paid_broadcast":"True","text":"x"}`,
	} {
		for _, paid := range []bool{true, false} {
			bc := news("n", people(1, nil))
			bc.What.Call, bc.Paid = call("sendDice", params), paid
			if !paid && !strings.HasPrefix(params, `{"allow`) {
				want = params
			}
			for range 2 { // sealed twice is as sealed once
				require.NoError(t, bc.Seal())
				require.Equal(t, want, string(bc.What.Call.Params.(json.RawMessage)))
				require.Equal(t, paid || strings.HasPrefix(params, `{"allow`), bc.Paid)
			}
		}
	}
	bc := news("n", people(1, nil))
	bc.Paid = true
	c := newCrier()
	_, err := launch(t, c, bc)
	require.NoError(t, err)
	require.True(t, c.whole["broadcast/77/n"].State.Paid)
}

func TestFieldsAreStoredOnlyForATemplate(t *testing.T) {
	t.Parallel()
	all := people(2, map[string]string{"name": "Ann"})
	bc := news("n", all)
	require.NoError(t, bc.Seal())
	require.Equal(t, people(2, nil), bc.Recipients)
	require.Equal(t, "Ann", all[0].Fields["name"], "the caller's are its own")
	bc = news("n", all)
	bc.What.Template = true
	require.NoError(t, bc.Seal())
	require.Equal(t, all, bc.Recipients)
}

// However the recipients look, the parts are the audience, each within its bounds
// and none smaller than it has to be.
func TestThePartsAreTheAudienceInOrder(t *testing.T) {
	t.Parallel()
	small := rapid.IntRange(1, 300)
	rapid.Check(t, func(t *rapid.T) {
		all := people(rapid.OneOf(small, small, small, rapid.IntRange(1990, 2300)).Draw(t, "n"), nil)
		for range rapid.IntRange(0, 4).Draw(t, "stretches") {
			from := rapid.IntRange(0, len(all)-1).Draw(t, "from")
			f := map[string]string{"f": strings.Repeat("<", rapid.IntRange(0, 2700).Draw(t, "size"))}
			for i := from; i < min(from+50, len(all)); i++ {
				all[i].Fields = f
			}
		}
		bc, c := news("n", all), newCrier()
		bc.What = contract.BroadcastCall{Call: call("sendDice", `{}`), Template: true}
		got, err := starter.NewBroadcasts(c, bot, false).Start(t.Context(), bc, nobody)
		require.NoError(t, err)
		require.Equal(t, all, c.audience(t, "n"))
		var sizes []int
		for n := range got.Parts {
			part := c.parts[contract.PartID(bot, "n", n+1)].Recipients
			data, err := json.Marshal(part)
			require.NoError(t, err)
			require.LessOrEqual(t, len(part), contract.PartRecipients)
			require.LessOrEqual(t, len(data), contract.PartBytes+len("[]"))
			sizes = append(sizes, len(data))
			if n > 0 && len(c.parts[contract.PartID(bot, "n", n)].Recipients) < contract.PartRecipients {
				next, err := json.Marshal(part[0])
				require.NoError(t, err)
				require.Greater(t, sizes[n-1]+len(next), contract.PartBytes, "the first of this part had its place in the one before")
			}
		}
	})
}
