package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// A long text arrives whole, in order, and no part twice. Only these tests catch
// a part that Telegram refuses, and a retry that begins again at the first one.

// page is a line of 100 characters, over and over: 41 of them are a part.
func page(parts int) string { return strings.Repeat(strings.Repeat("x", 99)+"\n", 41*parts-2) }

func TestSplitALongTextGoesOnAtThePartThatFailed(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]func(w *world) string{
		"a message": func(w *world) string {
			return w.send(1001, "--text", "re: "+page(5), "--split").WorkflowID
		},
		"a reply": func(w *world) string { return contract.UpdateID(w.bot, w.SendText(1001, "long 5")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.CreateChat(telegramsim.Chat{ID: 1001})
			w.start().onDuty()
			w.Fault(telegramsim.Fault{Method: "sendMessage", Kind: telegramsim.FaultStatus, Nth: 3, Times: 1})
			how(w)
			w.eventually("all of it is sent", func() bool { return strings.Count(strings.Join(w.texts(1001), ""), "x") >= 99*(41*5-2) })
			w.pass(time.Now().Add(2 * time.Second)) // nothing follows
			texts := w.texts(1001)
			require.InDelta(t, 6, len(texts), 1)
			require.Len(t, w.calls("sendMessage"), len(texts)+1, "one part was refused once")
			for i, text := range texts {
				require.Equal(t, i == 0, strings.HasPrefix(text, "re: "), "part %d", i)
			}
		})
	}
}

func TestSplitFormattingIsContinuedAndButtonsComeLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.CreateChat(telegramsim.Chat{ID: 2000})
	w.start().onDuty()
	html := "<b>" + strings.Repeat("word ", 1000) + `</b><a href="https://example.org/">` + strings.Repeat("link ", 1000) + "</a>"
	params := fmt.Sprintf(`{"text":%q,"parse_mode":"HTML","reply_markup":{"inline_keyboard":[[{"text":"ok","callback_data":"ok"}]]}}`, html)
	r := w.send(2000, "--method", "sendMessage", "--params", params, "--split", "--wait")
	require.Equal(t, contract.Delivered, r.Outcome, r.Error)
	sent := w.Ledger(2000)
	require.Len(t, sent, 3)
	require.Len(t, r.MessageIDs, 3)
	for i, m := range sent {
		require.Equal(t, i == 2, len(m.Markup) > 0, "part %d", i)
		require.NotContains(t, m.Text, "<")
		require.NotEmpty(t, m.Entities, "part %d", i)
	}
	whole := w.send(2000, "--method", "sendMessage", "--params", `{"text":"<b>`+strings.Repeat("a", 4096)+`</b>","parse_mode":"HTML"}`, "--split", "--wait")
	require.Equal(t, contract.Delivered, whole.Outcome)
	require.Len(t, w.Ledger(2000), 4, "markup does not count")
}

func TestSplitAPartThatDiesLeavesALetterWithTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.CreateChat(telegramsim.Chat{ID: 2000})
	w.start().onDuty()
	w.Fault(telegramsim.Fault{
		Method: "sendMessage", Kind: telegramsim.FaultStatus, Nth: 3, Times: 1, Status: 400,
		Body: `{"ok":false,"error_code":400,"description":"Bad Request: BUTTON_DATA_INVALID"}`,
	})
	r := w.send(2000, "--text", page(5), "--split", "--wait")
	require.Equal(t, contract.ReasonRejected, r.Reason)
	require.Len(t, w.Ledger(2000), 2)
	w.must("dead", "replay", r.DeadLetter, "--reason", "mended", "--wait", "--yes")
	require.Equal(t, page(5), strings.Join(w.texts(2000), ""), "every part once")
}
