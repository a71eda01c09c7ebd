package starter_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

var anyChat = rapid.StringMatching(`-?[1-9][0-9]{0,17}|@[A-Za-z0-9_]{4,32}`)

// recipientsOf draws recipients that have all the same two fields.
func recipientsOf(t *rapid.T) []contract.Recipient {
	chats := rapid.SliceOfNDistinct(anyChat, 1, 20, strings.ToLower).Draw(t, "chats")
	value := rapid.StringOf(rapid.OneOf(rapid.SampledFrom([]rune(" ,;\"'\n\t#{}<é")), rapid.RuneFrom([]rune("abc123"))))
	all := make([]contract.Recipient, len(chats))
	for i, chat := range chats {
		all[i] = contract.Recipient{Chat: chat, Fields: map[string]string{"name": value.Draw(t, "name"), "city": value.Draw(t, "city")}}
	}
	return all
}

func asCSV(t *rapid.T, all []contract.Recipient) string {
	var file bytes.Buffer
	w := csv.NewWriter(&file)
	w.Comma = rapid.SampledFrom([]rune(",;\t")).Draw(t, "comma")
	w.UseCRLF = rapid.Bool().Draw(t, "crlf")
	require.NoError(t, w.Write([]string{"name", "chat_id", "city"}))
	for _, r := range all {
		require.NoError(t, w.Write([]string{r.Fields["name"], r.Chat, r.Fields["city"]}))
	}
	w.Flush()
	return file.String()
}

func asJSONL(t *rapid.T, all []contract.Recipient) string {
	var file strings.Builder
	for _, r := range all {
		line := map[string]any{"name": r.Fields["name"], "city": r.Fields["city"], "chat": r.Chat}
		if r.Chat[0] != '@' && rapid.Bool().Draw(t, "number") {
			line["chat"] = json.Number(r.Chat)
		}
		data, err := json.Marshal(line)
		require.NoError(t, err)
		file.WriteString(string(data) + rapid.SampledFrom([]string{"\n", "\r\n", "\n\n"}).Draw(t, "end"))
	}
	return file.String()
}

func TestAnAudienceIsTheSameInEveryForm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := recipientsOf(t)
		table := readAudience(t, asCSV(t, all))
		require.Equal(t, all, table.Recipients)
		require.Equal(t, all, readAudience(t, asJSONL(t, all)).Recipients)
		var names []string
		for i := range all {
			names = append(names, all[i].Chat)
		}
		require.Equal(t, chats(names...), readAudience(t, strings.Join(names, "\n")).Recipients)
	})
}

func TestAfterAllMovesEachChatIsThereOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.Int64Range(1, 12)
		moves := rapid.MapOf(id, id).Draw(t, "moves")
		ids := rapid.SliceOfDistinct(id, rapid.ID).Draw(t, "ids")
		a := &starter.Audience{}
		want := map[string]bool{}
		for i, n := range ids {
			a.Recipients = append(a.Recipients, contract.Recipient{Chat: strconv.FormatInt(n, 10)})
			a.Lines = append(a.Lines, i+1)
			to := n
			if moves[n] != 0 {
				to = moves[n]
			}
			want[strconv.FormatInt(to, 10)] = true
		}
		a.Follow(func(chat int64) int64 { return moves[chat] })
		got := map[string]bool{}
		for _, r := range a.Recipients {
			got[r.Chat] = true
		}
		require.Equal(t, want, got)
		require.Len(t, a.Recipients, len(want), "each once")
		require.Len(t, a.Lines, len(want))
		require.Equal(t, len(ids), len(a.Recipients)+a.Duplicates)
	})
}

func FuzzAudience(f *testing.F) {
	for _, seed := range []string{
		"1\n@name\n# x\n", "\ufeffchat_id;name\r\n1;\"a\nb\"\r\n", `{"chat_id":1,"a":"b","c":null}` + "\n\"@name\"\n2", "chat\n1\n", "id,a\n1\n2,\"", "[", "\xff\xfe",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		a, err := starter.ReadAudience(bytes.NewReader(file))
		if err != nil {
			require.Nil(t, a)
			return
		}
		require.Equal(t, a.Rows, len(a.Recipients)+a.Duplicates+a.InvalidRows)
		require.Len(t, a.Lines, len(a.Recipients))
		seen, last := map[string]bool{}, 0
		for i, r := range a.Recipients {
			require.Regexp(t, `^(-?[1-9][0-9]{0,18}|@[A-Za-z0-9_]{4,32})$`, r.Chat)
			require.False(t, seen[strings.ToLower(r.Chat)])
			seen[strings.ToLower(r.Chat)] = true
			require.Greater(t, a.Lines[i], last)
			last = a.Lines[i]
			require.LessOrEqual(t, last, bytes.Count(file, []byte("\n"))+1)
		}
		for _, row := range a.Invalid {
			require.LessOrEqual(t, row.Line, bytes.Count(file, []byte("\n"))+1)
		}
	})
}
