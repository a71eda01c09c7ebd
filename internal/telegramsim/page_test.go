package telegramsim_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// TestPage drives the page in a real browser. Each promise has a tab and a
// simulator of its own; the browser is shared, as starting one is slow.
func TestPage(t *testing.T) {
	t.Parallel()
	chromium := browser(t)
	promises := map[string]func(*testing.T, context.Context){
		"lets a newcomer type at once":                  pageLetsANewcomerType,
		"shows the bot's answer without a reload":       pageShowsAnswersLive,
		"sends a button press as a callback query":      pageSendsPresses,
		"says that the bot does not want presses":       pageSaysThatAPressWasNotWanted,
		"shows a blocked chat and the bot's 403":        pageShowsBlockedChats,
		"switches a fault on and off":                   pageSwitchesFaults,
		"hits one chat only with a fault for this chat": pageAimsFaults,
		"counts a penalty down":                         pageCountsPenaltiesDown,
		"shows markup in a message as text":             pageShowsMarkupAsText,
		"survives a restart of the simulator":           pageSurvivesARestart,
		"shows edits, deletions and typing":             pageShowsEdits,
		"ticks a text when the bot confirmed it":        pageTicksConfirmedTexts,
		"stays at the place a person reads":             pageKeepsThePlace,
		"draws a window of a long conversation":         pageDrawsAWindow,
		"makes a group and lets a person write in it":   pageMakesGroups,
		"runs a flood and shows its progress":           pageRunsFloods,
		"saves limits":                                  pageSavesLimits,
		"links a text to its workflow":                  pageLinksWorkflows,
		"can be used with the keyboard alone":           pageWorksByKeyboard,
		"is worth looking at in light and dark":         pageIsWorthLookingAt,
		"greets a newcomer":                             pageGreetsNicely,
		"keeps its text readable in light and dark":     pageKeepsTextReadable,
		"fits on a phone":                               pageFitsOnAPhone,
		"tells where the webhook is":                    pageTellsOfAWebhook,
	}
	for name, keeps := range promises {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keeps(t, chromium)
		})
	}
}

func pageLetsANewcomerType(t *testing.T, browser context.Context) {
	b := free(t)
	p := visit(t, browser, b, 1280, 800)
	p.waitText("#talk-title", "Ada")
	p.waitText("#talk-empty", "say /start")
	p.click("#talk-empty button")
	p.waitText(".message.user", "/start")
	require.Equal(t, 1, b.Pending())
	require.Len(t, b.Chats(), 1)
	p.quiet()
}

func pageTellsOfAWebhook(t *testing.T, browser context.Context) {
	b := free(t)
	require.True(t, b.call("setWebhook", params{"url": "https://example.org/hook/SECRET"}).OK)
	b.SendText(1001, "hello")
	p := visit(t, browser, b, 1280, 800)
	p.waitText("#bot-state", "Webhook at example.org, 1 waiting")
	require.NotContains(t, eval[string](p, `document.body.textContent`), "SECRET")
	p.quiet()
}

func pageShowsAnswersLive(t *testing.T, browser context.Context) {
	b := free(t)
	b.echo(t)
	p := visit(t, browser, b, 1280, 800)
	p.run(chromedp.Evaluate[chromedp.Void](`void (document.body.dataset.mark = "same page")`))
	p.write("hello")
	p.waitText(".message.user", "hello")
	p.waitText(".message.bot", "You said: hello")
	require.Equal(t, "same page", eval[string](p, `document.body.dataset.mark`))
	p.waitText("#bot-state", "Bot connected")
	p.quiet()
}

func pageSendsPresses(t *testing.T, browser context.Context) {
	b := free(t)
	ada := b.CreateChat(telegramsim.Chat{Name: "Ada"})
	p := visit(t, browser, b, 1280, 800)
	b.call("sendMessage", params{"chat_id": ada.ID, "text": "Sure?", "reply_markup": jsonObject{"inline_keyboard": [][]jsonObject{{{"text": "Yes", "callback_data": "sure"}}}}})
	p.click(".key")
	p.wait(`document.querySelector(".key").getAttribute("aria-busy") === "true"`)
	var queue []struct {
		Query struct{ ID, Data string } `json:"callback_query"`
	}
	require.Eventually(t, func() bool { return b.Pending() == 1 }, soon, 10*time.Millisecond)
	decodeResult(t, b.call("getUpdates", params{}), &queue)
	require.Equal(t, "sure", queue[0].Query.Data)
	b.call("answerCallbackQuery", params{"callback_query_id": queue[0].Query.ID, "text": "Noted"})
	p.waitText(".notice", "Noted")
	p.wait(`!document.querySelector(".key").hasAttribute("aria-busy")`)
	p.quiet()
}

func pageSaysThatAPressWasNotWanted(t *testing.T, browser context.Context) {
	b := free(t)
	ada := b.CreateChat(telegramsim.Chat{Name: "Ada"})
	b.call("getUpdates", params{"allowed_updates": []string{"message"}})
	p := visit(t, browser, b, 1280, 800)
	b.call("sendMessage", params{"chat_id": ada.ID, "text": "Sure?", "reply_markup": jsonObject{"inline_keyboard": [][]jsonObject{{{"text": "Yes", "callback_data": "sure"}}}}})
	p.click(".key")
	p.waitText("#errors", "Not queued")
	p.wait(`!document.querySelector(".key").hasAttribute("aria-busy")`)
	p.quiet()
}

func pageShowsBlockedChats(t *testing.T, browser context.Context) {
	b := free(t)
	ada := b.CreateChat(telegramsim.Chat{Name: "Ada"})
	p := visit(t, browser, b, 1280, 800)
	p.click("#talk-block")
	p.waitText(".chat-row.is-blocked", "Blocked the bot")
	require.Equal(t, http.StatusForbidden, b.call("sendMessage", params{"chat_id": ada.ID, "text": "hi"}).Code)
	p.waitText("#log .status", "403")
	p.click("#stopped button")
	p.wait(`!document.querySelector(".is-blocked") && !document.querySelector("#composer").hidden`)
	require.True(t, b.call("sendMessage", params{"chat_id": ada.ID, "text": "hi"}).OK)
	p.waitText(".message.bot", "hi")
	p.quiet()
}

func pageSwitchesFaults(t *testing.T, browser context.Context) {
	b := free(t)
	ada := b.CreateChat(telegramsim.Chat{Name: "Ada"})
	p := visit(t, browser, b, 1280, 800)
	p.click(`[data-fault="status"]`)
	p.wait(`document.querySelector('[data-fault="status"]').ariaChecked === "true"`)
	resp, _, err := b.post("sendMessage", params{"chat_id": ada.ID, "text": "lost"})
	require.NoError(t, err)
	require.Equal(t, http.StatusBadGateway, resp.StatusCode)
	p.waitText("#log .status", "502")
	p.waitText(".note.fault", "before accepting")
	p.waitText(`[data-fault="status"]`, "1 hit")
	p.click(`[data-fault="status"]`)
	p.wait(`document.querySelector('[data-fault="status"]').ariaChecked === "false"`)
	require.NotZero(t, b.say(ada.ID, "through"))
	p.waitText(".message.bot", "through")
	require.Equal(t, []string{"through"}, texts(b.Ledger(ada.ID)))
	p.quiet()
}

func pageAimsFaults(t *testing.T, browser context.Context) {
	b := free(t)
	ada := b.CreateChat(telegramsim.Chat{Name: "Ada"})
	bob := b.CreateChat(telegramsim.Chat{Name: "Bob"})
	b.SendText(ada.ID, "first")
	p := visit(t, browser, b, 1280, 800)
	p.choose("#fault-scope", "chat")
	p.choose("#fault-times", "1")
	p.click(`[data-fault="reset"]`)
	p.wait(`document.querySelector('[data-fault="reset"]').ariaChecked === "true"`)
	b.say(bob.ID, "not hit")
	_, _, err := b.post("sendMessage", params{"chat_id": ada.ID, "text": "accepted"})
	require.Error(t, err, "the connection is cut")
	p.waitText("#log .status", "cut")
	p.waitText(".message.bot", "accepted")
	p.wait(`document.querySelector('[data-fault="reset"]').ariaChecked === "false"`)
	p.quiet()
}

func pageCountsPenaltiesDown(t *testing.T, browser context.Context) {
	b := setup(t, telegramsim.Options{NoPollRules: true, Limits: telegramsim.Limits{PerChat: 1, PerChatWindow: 5 * time.Minute}})
	ada := b.CreateChat(telegramsim.Chat{Name: "Ada"})
	p := visit(t, browser, b, 1280, 800)
	b.say(ada.ID, "one")
	require.Equal(t, http.StatusTooManyRequests, b.call("sendMessage", params{"chat_id": ada.ID, "text": "two"}).Code)
	p.waitText("#penalties", "Ada")
	p.waitText("#log .status", "429")
	p.waitText(".note.limited", "retry after")
	p.waitText("#limited", "1")
	p.wait(`/^[45]:\d\d$/.test(document.querySelector("#talk-pills .ticking")?.textContent)`)
	before := eval[string](p, `document.querySelector("#penalties .ticking").textContent`)
	p.wait(fmt.Sprintf(`document.querySelector("#penalties .ticking").textContent < %q`, before))
	p.click("#penalties button")
	p.wait(`!document.querySelector("#penalties .ticking") && !document.querySelector("#talk-pills .ticking")`)
	p.quiet()
}

func pageShowsMarkupAsText(t *testing.T, browser context.Context) {
	b := free(t)
	evil := `<img src=x onerror="document.title='owned'"><b>bold</b>`
	ada := b.CreateChat(telegramsim.Chat{Name: "<i>Ada</i>"})
	p := visit(t, browser, b, 1280, 800)
	b.call("sendMessage", params{"chat_id": ada.ID, "text": evil, "reply_markup": jsonObject{"inline_keyboard": [][]jsonObject{{
		{"text": "<u>key</u>", "callback_data": "k"}, {"text": "link", "url": "javascript:alert(1)"},
	}}}})
	p.waitText(".message.bot .text", evil)
	p.waitText(".key", "<u>key</u>")
	p.waitText(".chat-title", "<i>Ada</i>")
	require.Zero(t, eval[int](p, `document.querySelectorAll("#messages img, #messages .text *, .key u, .chat-title i, a[href^=javascript]").length`))
	require.Equal(t, "durabot simulator", eval[string](p, `document.title`))
	p.quiet()
}

func pageSurvivesARestart(t *testing.T, browser context.Context) {
	opts := telegramsim.Options{StateFile: filepath.Join(t.TempDir(), "state"), Limits: telegramsim.Limits{Off: true}}
	first := setup(t, opts)
	first.CreateChat(telegramsim.Chat{ID: 5, Name: "Ada"})
	for range 30 {
		first.say(5, "filler")
	}
	b, stop := serveAt(t, opts, first.Sim, "127.0.0.1:0")
	p := visit(t, browser, b, 1280, 800)
	first.say(5, "before")
	p.waitText(".message.bot", "before")
	stop()
	p.wait(`!document.querySelector("#link").hidden`)
	again, err := telegramsim.New(opts)
	require.NoError(t, err)
	b, stop = serveAt(t, opts, again, b.url[len("http://"):])
	defer stop()
	p.wait(`document.querySelector("#link").hidden`)
	b.say(5, "after")
	p.waitText(".message.bot", "after")
	p.write("still here")
	p.waitText(".message.user", "still here")
	require.Equal(t, 1, eval[int](p, `[...document.querySelectorAll(".message")].filter((each) => each.textContent.includes("before")).length`))
}

// serveAt serves a simulator at an address; stop ends both as a crash would.
func serveAt(t *testing.T, opts telegramsim.Options, sim *telegramsim.Sim, address string) (*bundle, func()) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(sim.Handler())
	require.NoError(t, server.Listener.Close())
	server.Listener = listener
	server.Start()
	b := &bundle{Sim: sim, t: t, url: server.URL, client: server.Client()}
	return b, func() {
		require.NoError(t, sim.Close())
		b.client.CloseIdleConnections()
		server.CloseClientConnections()
		server.Close()
	}
}
