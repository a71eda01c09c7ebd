package telegramsim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

func encoded(value any) io.Reader {
	raw, err := json.Marshal(value)
	if err != nil {
		return bytes.NewReader(nil)
	}
	return bytes.NewReader(raw)
}

// scheme makes the page think the person prefers light or dark.
func (p *tab) scheme(name string) {
	p.t.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
	require.NoError(p.t, err)
}

// shoot takes a picture, keeps it where DURABOT_SCREENSHOTS says, and returns it
// decoded.
func (p *tab) shoot(name string) image.Image {
	p.t.Helper()
	raw, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	require.NoError(p.t, err)
	dir := os.Getenv("DURABOT_SCREENSHOTS")
	if dir == "" {
		dir = p.t.TempDir()
	}
	require.NoError(p.t, os.MkdirAll(dir, 0o755))
	require.NoError(p.t, os.WriteFile(filepath.Join(dir, name+".png"), raw, 0o600))
	picture, err := png.Decode(bytes.NewReader(raw))
	require.NoError(p.t, err)
	return picture
}

// shades counts the different colours of a picture, looking at every 3rd pixel.
func shades(picture image.Image) int {
	seen := map[[3]uint32]bool{}
	box := picture.Bounds()
	for y := box.Min.Y; y < box.Max.Y; y += 3 {
		for x := box.Min.X; x < box.Max.X; x += 3 {
			r, g, b, _ := picture.At(x, y).RGBA()
			seen[[3]uint32{r, g, b}] = true
		}
	}
	return len(seen)
}

// brightness is the mean of a picture from 0 (black) to 1 (white).
func brightness(picture image.Image) float64 {
	sum, n := 0.0, 0.0
	box := picture.Bounds()
	for y := box.Min.Y; y < box.Max.Y; y += 7 {
		for x := box.Min.X; x < box.Max.X; x += 7 {
			r, g, b, _ := picture.At(x, y).RGBA()
			sum += float64(r+g+b) / (3 * 0xffff)
			n++
		}
	}
	return sum / n
}

// furnish fills a simulator with what a busy day of a small bot looks like.
func furnish(t *testing.T) *bundle {
	t.Helper()
	b := setup(t, telegramsim.Options{Limits: telegramsim.Limits{Off: true}, NoPollRules: true, BotName: "corner_cafe_bot", TemporalUI: "http://127.0.0.1:8233"})
	for id, name := range []string{"Ada Moreau", "Grace Lindqvist", "Tomás Rivera", "Mei Tanaka", "Priya Nair"} {
		b.CreateChat(telegramsim.Chat{ID: int64(1001 + id), Name: name})
	}
	b.CreateChat(telegramsim.Chat{ID: -20417733, Title: "Roasters' book club"})
	b.SendText(1002, "Is the terrace open tonight?")
	b.say(1002, "Yes, until 22:00. See you there!")
	b.SendText(1003, "Please stop sending me offers")
	b.say(1003, "Understood. No more offers.")
	b.SendTextFrom(-20417733, 1005, "Who brings the cake on Thursday?")
	b.say(-20417733, "Poll: who brings the cake?")
	b.SendText(1004, "/subscribe")
	b.call("sendPhoto", params{"chat_id": 1004, "photo": "menu.jpg", "caption": "This week's menu"})
	b.converse(t)
	b.Block(1003)
	b.Penalise(1004, 4*time.Minute)
	b.Fault(telegramsim.Fault{Kind: telegramsim.FaultStatus, Status: 502, ChatID: 1004})
	return b
}

// converse is the conversation that the pictures show.
func (b *bundle) converse(t *testing.T) {
	t.Helper()
	b.SendText(1001, "/start")
	b.call("sendMessage", params{"chat_id": 1001, "text": "Hello Ada, welcome to the Corner Café. What can I do for you?", "reply_markup": jsonObject{"inline_keyboard": [][]jsonObject{
		{{"text": "Book a table", "callback_data": "book"}, {"text": "Today's menu", "callback_data": "menu"}},
		{{"text": "Find us on the map", "url": "https://example.com/map"}},
	}}})
	b.SendText(1001, "A table for two tomorrow at seven, please. By the window if there is one.")
	b.call("sendMessage", params{"chat_id": 1001, "text": "A table for two, tomorrow 19:00, by the window.\nShall I book it?", "reply_parameters": jsonObject{"message_id": 3}, "reply_markup": jsonObject{"inline_keyboard": [][]jsonObject{
		{{"text": "Yes, book it", "callback_data": "yes"}, {"text": "Another time", "callback_data": "no"}},
	}}})
	b.call("sendDocument", params{"chat_id": 1001, "document": "menu-december.pdf", "caption": "Here is the menu while you decide."})
	id := b.say(1001, "Opening hours: 9 to 21")
	require.True(t, b.call("editMessageText", params{"chat_id": 1001, "message_id": id, "text": "Opening hours: 9 to 22"}).OK)
	id = b.say(1001, "Happy hour is from 17 to 18")
	require.True(t, b.call("deleteMessage", params{"chat_id": 1001, "message_id": id}).OK)
}

// enliven does what only a person at the page can: it writes, hits faults and
// penalties, so that ticks, notes and the log have something to show.
func (p *tab) enliven() {
	p.t.Helper()
	p.click(`[data-chat="1001"]`)
	p.waitText("#talk-title", "Ada")
	p.write("Yes, and a cake for the table <3")
	p.waitText(".message.user", "and a cake")
	p.call("getUpdates", params{"offset": -1})
	p.call("getUpdates", params{"offset": p.Confirmed() + 1})
	p.Fault(telegramsim.Fault{Kind: telegramsim.FaultStatus, Status: 502, ChatID: 1001, Times: 1})
	_, _, err := p.post("sendMessage", params{"chat_id": 1001, "text": "lost"})
	require.NoError(p.t, err)
	p.say(1001, "Booked! A table for two and a cake: chocolate or lemon?")
	for _, chat := range []int64{1004, 1003, 1002} {
		_, _, err := p.post("sendMessage", params{"chat_id": chat, "text": "Menu"})
		require.NoError(p.t, err)
	}
	p.call("sendChatAction", params{"chat_id": 1002, "action": "typing"})
	p.waitText(".log-method", "sendChatAction")
	p.waitText(".message.bot", "chocolate or lemon")
	p.wait(`document.querySelector(".bar-all:nth-last-child(2)").height.baseVal.value > 2 || document.querySelector(".bar-all:nth-last-child(4)").height.baseVal.value > 2`)
}

func pageIsWorthLookingAt(t *testing.T, browser context.Context) {
	b := furnish(t)
	p := visit(t, browser, b, 1440, 900)
	p.enliven()
	p.scheme("light")
	light := p.shoot("wide-light")
	require.Greater(t, shades(light), 100)
	p.scheme("dark")
	dark := p.shoot("wide-dark")
	require.Greater(t, shades(dark), 100)
	require.Greater(t, brightness(light), 0.8)
	require.Less(t, brightness(dark), 0.25)
	p.scheme("light")
	p.run(chromedp.EmulateViewport(900, 760))
	p.wait(`getComputedStyle(document.querySelector("#lab")).visibility === "hidden"`)
	require.Greater(t, shades(p.shoot("medium-light")), 100)
	p.quiet()
}

// pageGreetsNicely takes the pictures of what a newcomer sees: nothing yet, the
// dialog, and a group.
func pageGreetsNicely(t *testing.T, browser context.Context) {
	p := visit(t, browser, free(t), 1440, 900)
	p.scheme("light")
	p.waitText("#talk-empty", "/start")
	require.Greater(t, shades(p.shoot("first-open")), 60)
	p.click("#new-chat")
	p.click(`#chat-form [value="group"]`)
	require.Greater(t, shades(p.shoot("dialog")), 60)
	p.scheme("dark")
	require.Less(t, brightness(p.shoot("dialog-dark")), 0.25)
	p.quiet()
}

func pageFitsOnAPhone(t *testing.T, browser context.Context) {
	p := visit(t, browser, furnish(t), 390, 844)
	p.scheme("light")
	for _, view := range []string{"chats", "talk", "lab"} {
		p.click(`.tabs [data-go="` + view + `"]`)
		p.wait(`document.querySelector("#` + view + `").getBoundingClientRect().width === innerWidth`)
		require.Greater(t, shades(p.shoot("phone-"+view)), 60)
	}
	require.False(t, eval[bool](p, `document.documentElement.scrollWidth > innerWidth`), "the page is wider than the phone")
	p.click(`.tabs [data-go="chats"]`)
	p.click(`[data-chat="1004"]`)
	p.waitText("#talk-title", "Mei")
	require.Greater(t, shades(p.shoot("phone-penalty")), 60)
	p.scheme("dark")
	p.click(`.tabs [data-go="chats"]`)
	p.click(`[data-chat="1001"]`)
	p.waitText("#talk-title", "Ada")
	require.Less(t, brightness(p.shoot("phone-talk-dark")), 0.3)
	p.quiet()
}
