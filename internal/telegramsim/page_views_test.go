package telegramsim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

func decodeResult(t *testing.T, e envelope, value any) {
	t.Helper()
	require.True(t, e.OK, e.Description)
	require.NoError(t, json.Unmarshal(e.Result, value))
}

// choose picks an option of a select, as a person would.
func (p *tab) choose(selector, value string) {
	p.t.Helper()
	p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
		`(() => { const s = document.querySelector(%q); s.value = %q; s.dispatchEvent(new Event("change", { bubbles: true })); })()`, selector, value)))
}

func pageShowsEdits(t *testing.T, browser context.Context) {
	b := free(t)
	ada := b.CreateChat(telegramsim.Chat{Name: "Ada"})
	p := visit(t, browser, b, 1280, 800)
	id := b.say(ada.ID, "draft")
	p.waitText(".message.bot", "draft")
	b.call("editMessageText", params{"chat_id": ada.ID, "message_id": id, "text": "final"})
	p.waitText(".message.bot .text", "final")
	p.waitText(".message.bot .edited", "edited")
	b.call("sendMessage", params{"chat_id": ada.ID, "text": "an answer", "reply_parameters": jsonObject{"message_id": id}})
	p.waitText(".quote", "final")
	b.call("deleteMessage", params{"chat_id": ada.ID, "message_id": id})
	p.waitText(".message.deleted", "final")
	b.call("sendPhoto", params{"chat_id": ada.ID, "photo": "x", "caption": "the caption"})
	p.waitText(".card", "sendPhoto")
	b.call("sendChatAction", params{"chat_id": ada.ID, "action": "typing"})
	p.waitText("#talk-sub", "typing")
	p.waitText(".chat-last", "typing")
	p.quiet()
}

func pageTicksConfirmedTexts(t *testing.T, browser context.Context) {
	b := free(t)
	p := visit(t, browser, b, 1280, 800)
	p.write("tick me")
	p.wait(`document.querySelector(".message.user .icon-tick")`)
	b.call("getUpdates", params{"offset": b.Confirmed() + 1})
	p.wait(`document.querySelector(".message.user .icon-ticks")`)
	p.run(chromedp.Reload())
	p.wait(`document.querySelector(".message.user .icon-ticks")`)
	p.quiet()
}

func pageKeepsThePlace(t *testing.T, browser context.Context) {
	b := free(t)
	ada := b.CreateChat(telegramsim.Chat{Name: "Ada"})
	for n := range 60 {
		b.say(ada.ID, fmt.Sprint("line ", n))
	}
	p := visit(t, browser, b, 1280, 800)
	atEnd := `(() => { const s = document.querySelector("#scroll"); return s.scrollHeight - s.scrollTop - s.clientHeight < 2; })()`
	p.wait(atEnd)
	b.say(ada.ID, "follows")
	p.waitText(".message.bot", "follows")
	p.wait(atEnd)
	p.run(chromedp.Evaluate[chromedp.Void](`void (document.querySelector("#scroll").scrollTop = 300)`))
	p.wait(`!document.querySelector("#to-end").hidden`)
	b.say(ada.ID, "waits below")
	p.waitText("#to-end", "1 new")
	require.InDelta(t, 300, eval[float64](p, `document.querySelector("#scroll").scrollTop`), 1)
	p.click("#to-end")
	p.wait(atEnd)
	p.wait(`document.querySelector("#to-end").hidden`)
	p.quiet()
}

func pageDrawsAWindow(t *testing.T, browser context.Context) {
	b := free(t)
	ada := b.CreateChat(telegramsim.Chat{Name: "Ada"})
	p := visit(t, browser, b, 1280, 800)
	for n := range 2000 {
		b.SendText(ada.ID, fmt.Sprint("text ", n))
	}
	p.waitText(".message.user", "text 1999")
	require.LessOrEqual(t, eval[int](p, `document.querySelectorAll(".message").length`), 350)
	first := `document.querySelector(".message .text").textContent`
	before := eval[string](p, first)
	p.run(chromedp.Evaluate[chromedp.Void](`void (document.querySelector("#scroll").scrollTop = 0)`))
	p.click("#older")
	p.wait(fmt.Sprintf(`%s !== %q`, first, before))
	p.wait(`document.querySelector("#scroll").scrollTop > 1000`)
	p.quiet()
}

func pageMakesGroups(t *testing.T, browser context.Context) {
	b := free(t)
	p := visit(t, browser, b, 1280, 800)
	p.click("#new-chat")
	p.click(`#chat-form [value="group"]`)
	p.run(chromedp.SendKeys(chromedp.CSS(`#chat-form [name="title"]`), "Book club"),
		chromedp.SendKeys(chromedp.CSS(`#chat-form [name="name"]`), "Grace"))
	p.click(`#chat-form [value="make"]`)
	p.waitText("#talk-title", "Book club")
	p.write("who reads what?")
	p.waitText(".message.user .name", "Grace")
	var updates []struct {
		Message struct {
			From struct {
				FirstName string `json:"first_name"`
			}
			Chat struct{ Title string }
		}
	}
	decodeResult(t, b.call("getUpdates", params{}), &updates)
	require.Equal(t, "Grace", updates[0].Message.From.FirstName)
	require.Equal(t, "Book club", updates[0].Message.Chat.Title)
	p.wait(`document.querySelectorAll("#chat-tools button").length > 0`)
	p.run(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll("#chat-tools button")].find((each) => each.textContent.includes("supergroup")).click()`))
	p.waitText("#talk-sub", "supergroup")
	p.quiet()
}

func pageRunsFloods(t *testing.T, browser context.Context) {
	b := free(t)
	p := visit(t, browser, b, 1280, 1200)
	p.run(chromedp.SetValue(chromedp.CSS(`#flood [name="updates"]`), "9000"), chromedp.SetValue(chromedp.CSS(`#flood [name="per_second"]`), "40"))
	p.click("#flood button")
	p.waitText("#flood button", "Stop")
	p.wait(`/^[1-9]\d* of 9000$/.test(document.querySelector("#flood-text").textContent)`)
	p.wait(`document.querySelectorAll(".chat-row").length > 10`)
	p.click("#flood button")
	p.waitText("#flood button", "Start")
	require.False(t, b.Flood().Running)
	require.Less(t, b.Flood().Sent, 9000)
	p.quiet()
}

func pageSavesLimits(t *testing.T, browser context.Context) {
	b := setup(t, telegramsim.Options{NoPollRules: true})
	ada := b.CreateChat(telegramsim.Chat{Name: "Ada"})
	p := visit(t, browser, b, 1280, 800)
	p.run(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll(".panel").forEach((each) => { each.open = true; })`))
	p.wait(`document.querySelector('#limits [name="per_chat"]').value === "3"`)
	p.run(chromedp.SetValue(chromedp.CSS(`#limits [name="per_chat"]`), "1"))
	p.run(chromedp.Evaluate[chromedp.Void](`document.querySelector("#limits").requestSubmit()`))
	p.wait(`document.querySelector('#limits [name="per_chat"]').value === "1"`)
	require.Eventually(t, func() bool {
		return b.call("sendMessage", params{"chat_id": ada.ID, "text": "hi"}).Code == http.StatusTooManyRequests
	}, soon, 20*time.Millisecond)
	p.quiet()
}

func pageLinksWorkflows(t *testing.T, browser context.Context) {
	b := setup(t, telegramsim.Options{TemporalUI: "http://127.0.0.1:8233/", Limits: telegramsim.Limits{Off: true}})
	p := visit(t, browser, b, 1280, 800)
	p.write("link me")
	p.wait(`document.querySelector(".workflow")`)
	want := fmt.Sprintf("http://127.0.0.1:8233/namespaces/default/workflows/update%%2F700000001%%2F%d", b.Confirmed())
	require.Equal(t, want, eval[string](p, `document.querySelector(".workflow").href`))
	require.Equal(t, "http://127.0.0.1:8233/namespaces/default/workflows", eval[string](p, `document.querySelector("#temporal").href`))
	p.quiet()
}

func pageWorksByKeyboard(t *testing.T, browser context.Context) {
	b := free(t)
	for _, name := range []string{"Ada", "Bob"} {
		b.CreateChat(telegramsim.Chat{Name: name})
	}
	p := visit(t, browser, b, 1280, 800)
	p.run(chromedp.Focus(chromedp.CSS(".chat-row")), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter))
	p.waitText("#talk-title", "Bob")
	require.NotEqual(t, "0px", eval[string](p, `getComputedStyle(document.activeElement).outlineWidth`))
	p.run(chromedp.Focus(chromedp.CSS("#text")), chromedp.KeyEvent("one"), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierShift)),
		chromedp.KeyEvent("two"), chromedp.KeyEvent(kb.Enter))
	p.waitText(".message.user .text", "one\ntwo")
	require.Empty(t, eval[string](p, `document.querySelector("#text").value`))
	unnamed := eval[[]string](p, `[...document.querySelectorAll("button, input, select, textarea, a")].filter((each) => each.checkVisibility() && !(each.ariaLabel || each.textContent.trim() || each.labels?.length)).map((each) => each.outerHTML)`)
	require.Empty(t, unnamed, "every control has a name for screen readers")
	p.quiet()
}
