package telegramsim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// patience is when a test gives up waiting for a browser on a busy machine.
const patience = time.Minute

var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}

// browser starts Chromium for the tests of one parent test. Without one they
// are skipped, unless DURABOT_REQUIRE_BROWSER is set.
func browser(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range browsers {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		require.Empty(t, os.Getenv("DURABOT_REQUIRE_BROWSER"), "no Chromium found, but DURABOT_REQUIRE_BROWSER is set")
		t.Skip("no Chromium found: the chat page is not tested")
	}
	flags := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	allocator, stop := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), flags...)
	ctx, end := chromedp.NewContext(allocator)
	require.NoError(t, chromedp.Do(ctx))
	t.Cleanup(func() {
		require.NoError(t, chromedp.Cancel(ctx))
		end()
		stop()
	})
	return ctx
}

// tab is a page in a browser profile of its own, in front of a simulator of its
// own.
type tab struct {
	*bundle
	ctx context.Context

	mu       sync.Mutex
	problems []string
}

// visit opens the simulator's page in a new tab of a given size.
func visit(t *testing.T, browser context.Context, b *bundle, width, height int64) *tab {
	t.Helper()
	ctx, end := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	p := &tab{bundle: b, ctx: ctx}
	messages := chromedp.Console(ctx)
	var reading sync.WaitGroup
	reading.Go(func() { p.listen(messages) })
	t.Cleanup(func() {
		end()
		reading.Wait()
	})
	p.run(chromedp.EmulateViewport(width, height), chromedp.Navigate(b.url))
	p.wait(`document.querySelectorAll(".chat-row").length > 0 && document.querySelector("#talk-title").textContent !== ""`)
	return p
}

func (p *tab) listen(messages iter.Seq2[chromedp.ConsoleMessage, error]) {
	for m, err := range messages {
		if err != nil {
			return
		}
		p.mu.Lock()
		if m.IsException() || m.Type == "error" || m.Type == "warning" {
			p.problems = append(p.problems, m.String()+" "+m.URL)
		}
		p.mu.Unlock()
	}
}

// quiet requires that the page reported nothing to the console.
func (p *tab) quiet() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Empty(p.t, p.problems)
}

func (p *tab) run(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	require.NoError(p.t, chromedp.Do(ctx, steps...))
}

// wait waits until a JavaScript expression is true.
func (p *tab) wait(expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	poll := chromedp.Poll[bool]("Boolean("+expression+")", chromedp.WithPollingInterval(30*time.Millisecond), chromedp.WithPollingTimeout(0))
	_, err := chromedp.Run(ctx, poll)
	require.NoError(p.t, err, "waiting for "+expression)
}

// waitText waits until an element that matches a selector contains a text.
func (p *tab) waitText(selector, text string) {
	p.t.Helper()
	p.wait(fmt.Sprintf(`[...document.querySelectorAll(%q)].some((node) => node.textContent.includes(%q))`, selector, text))
}

// eval runs JavaScript in the page.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	require.NoError(p.t, err, expression)
	return value
}

// click clicks an element. The page may draw it anew between the look-up and the
// press, which no person would notice; then it is looked up again.
func (p *tab) click(selector string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	for {
		err := chromedp.Do(ctx, chromedp.Click(chromedp.CSS(selector)))
		if err == nil || !strings.Contains(err.Error(), "node with given id") {
			require.NoError(p.t, err, "clicking "+selector)
			return
		}
	}
}

// write types a text into the composer and presses Enter.
func (p *tab) write(text string) {
	p.t.Helper()
	p.run(chromedp.SendKeys(chromedp.CSS("#text"), text+"\r"))
}

// echo is a bot that repeats what it is told, with a button under it, and
// answers presses. It runs until the test ends.
func (b *bundle) echo(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	bot := &echoBot{url: b.url + "/bot" + b.Token() + "/", client: &http.Client{Transport: &http.Transport{}}}
	var running sync.WaitGroup
	running.Go(func() { bot.poll(ctx) })
	t.Cleanup(func() {
		stop()
		running.Wait()
		bot.client.CloseIdleConnections()
	})
}

// jsonObject is decoded JSON whose shape only the bot's few lines care about.
type jsonObject = map[string]any

type echoBot struct {
	url    string
	client *http.Client
}

func (e *echoBot) poll(ctx context.Context) {
	offset := int64(0)
	for ctx.Err() == nil {
		updates, _ := e.call(ctx, "getUpdates", params{"offset": offset, "timeout": 5}).([]any)
		for _, each := range updates {
			update, _ := each.(jsonObject)
			id, _ := update["update_id"].(float64)
			offset = int64(id) + 1
			e.handle(ctx, update)
		}
	}
}

func (e *echoBot) handle(ctx context.Context, update jsonObject) {
	if message, isText := update["message"].(jsonObject); isText {
		chat, _ := message["chat"].(jsonObject)
		e.call(ctx, "sendMessage", params{
			"chat_id": chat["id"], "text": fmt.Sprint("You said: ", message["text"]),
			"reply_markup": jsonObject{"inline_keyboard": [][]jsonObject{{{"text": "Again", "callback_data": "again"}}}},
		})
	}
	if query, isPress := update["callback_query"].(jsonObject); isPress {
		e.call(ctx, "answerCallbackQuery", params{"callback_query_id": query["id"], "text": fmt.Sprint("Pressed ", query["data"])})
	}
}

// call returns the result, nil on any error: a test sees its effect missing.
func (e *echoBot) call(ctx context.Context, method string, p params) any {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url+method, encoded(p))
	if err != nil {
		return nil
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := e.client.Do(req)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	var answer struct {
		Result any `json:"result"`
	}
	if json.NewDecoder(resp.Body).Decode(&answer) != nil {
		return nil
	}
	return answer.Result
}
