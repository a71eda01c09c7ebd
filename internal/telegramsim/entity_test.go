package telegramsim_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/telegramsim"
)

func TestEntitiesOfTheBotAreStoredOrRefusedInTelegramsWords(t *testing.T) {
	t.Parallel()
	const text = "👉 👉  aba caba"
	for list, want := range map[string]string{
		`[{"type":"bold","offset":2,"length":1}]`: " | bold 2+1",
		`[{"type":"italic","offset":8,"length":3},{"type":"bold","offset":7,"length":4},{"type":"code","offset":0,"length":2}]`: " | code 0+2 | bold 7+4 | italic 8+3",
		`[{"type":"bold","offset":0,"length":0}]`:                                            "",
		`[{"type":"mention","offset":99,"length":1},{"type":"url","offset":0,"length":1}]`:   "",
		`[{"type":"text_link","offset":0,"length":2,"url":"T.me","language":"go"}]`:          " | text_link 0+2 http://t.me/",
		`[{"type":"text_mention","offset":0,"length":2,"user":{"id":7,"first_name":"Eve"}}]`: " | text_mention 0+2 7",
		`[{"type":"pre","offset":0,"length":2,"language":"go","url":"t.me"}]`:                " | pre 0+2 go",
		`[{"type":"custom_emoji","offset":0,"length":2,"custom_emoji_id":"5"}]`:              " | custom_emoji 0+2 5",
		`[{"type":"date_time","offset":0,"length":2,"unix_time":9,"date_time_format":"r"}]`:  " | date_time 0+2 r 9",
		`no JSON`:                              "",
		`{}`:                                   "",
		`[5]`:                                  "error: can't parse MessageEntity: expected an Object",
		`[{"type":"bold","length":1}]`:         `error: can't parse MessageEntity: Can't find field "offset"`,
		`[{"type":"bold","offset":1}]`:         `error: can't parse MessageEntity: Can't find field "length"`,
		`[{"offset":1,"length":1}]`:            `error: can't parse MessageEntity: Can't find field "type"`,
		`[{"type":"x","offset":1,"length":1}]`: "error: can't parse MessageEntity: Unsupported type specified",
		`[{"type":"bold","offset":-1,"length":1}]`:                              "error: receive an entity with incorrect offset -1",
		`[{"type":"bold","offset":1,"length":-1}]`:                              "error: receive an entity with incorrect length -1",
		`[{"type":"bold","offset":1,"length":1}]`:                               "error: entity begins in a middle of a UTF-16 symbol at byte offset 4",
		`[{"type":"bold","offset":0,"length":1}]`:                               "error: entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol at byte offset 4",
		`[{"type":"bold","offset":14,"length":2}]`:                              "error: entity beginning at UTF-16 offset 14 ends after the end of the text at UTF-16 offset 16",
		`[{"type":"bold","offset":15,"length":1}]`:                              "error: entity beginning at UTF-16 offset 15 ends after the end of the text at UTF-16 offset 16",
		`[{"type":"bold","offset":16,"length":1}]`:                              "error: entity begins after the end of the text at UTF-16 offset 16",
		`[{"type":"text_link","offset":0,"length":2}]`:                          `error: can't parse MessageEntity: Can't find field "url"`,
		`[{"type":"text_link","offset":0,"length":2,"url":"localhost"}]`:        "error: entity URL 'localhost' is invalid: Wrong HTTP URL",
		`[{"type":"text_mention","offset":0,"length":2,"user":{"id":0}}]`:       "error: user not found",
		`[{"type":"custom_emoji","offset":0,"length":2,"custom_emoji_id":"x"}]`: "error: invalid custom emoji identifier specified",
	} {
		t.Run(list, func(t *testing.T) {
			t.Parallel()
			b := free(t)
			b.CreateChat(telegramsim.Chat{ID: 1001})
			e := b.call("sendMessage", params{"chat_id": 1001, "text": text, "entities": list})
			if !e.OK {
				require.Equal(t, want, "error: "+e.Description[len("Bad Request: "):])
				require.Empty(t, b.Ledger(0))
				return
			}
			m := b.Ledger(1001)[0]
			require.Equal(t, text+want, outline(telegramsim.Formatted{Text: m.Text, Entities: m.Entities}))
		})
	}
}

// TestGivenEntitiesAreWholeOrRefused draws entities beside and across code points.
func TestGivenEntitiesAreWholeOrRefused(t *testing.T) {
	t.Parallel()
	sim := newSim(t, open(telegramsim.Options{Limits: telegramsim.Limits{Off: true}}))
	rapid.Check(t, func(rt *rapid.T) {
		given := telegramsim.Entity{
			Type: "bold", Offset: rapid.IntRange(-1, 12).Draw(rt, "offset"), Length: rapid.IntRange(-1, 12).Draw(rt, "length"),
		}
		raw, err := json.Marshal([]telegramsim.Entity{given})
		require.NoError(rt, err)
		text := rapid.StringOfN(rapid.SampledFrom([]rune("aé😀")), 1, 8, -1).Draw(rt, "text")
		e := direct(t, sim, "sendMessage", params{"chat_id": 1001, "text": text, "entities": string(raw)})
		if !e.OK {
			return
		}
		var m struct {
			Text     string
			Entities []telegramsim.Entity
		}
		require.NoError(rt, json.Unmarshal(e.Result, &m))
		requireInside(rt, telegramsim.Formatted{Text: m.Text, Entities: m.Entities})
		require.Equal(rt, given.Length == 0, m.Entities == nil)
	})
}
