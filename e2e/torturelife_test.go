package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// The chats of a torture.
const (
	people         = 20 // who write, from firstPerson on
	firstPerson    = 1001
	firstRoller    = 1101 // of those to whom the handler answers by chance
	rollers        = 3
	addressees     = 15 // to whom messages are sent, from firstAddressee on
	firstAddressee = 2000
	refusedChat    = 2100 // whose messages Telegram refuses until they are replayed
	torturedGroup  = -4001
	firstOfMailing = 5000
	mailed         = 150
)

// fickle are people who block the bot and come back.
var fickle = []int64{firstPerson, firstPerson + 1, firstPerson + 2}

// question is what a person wrote, and the update it became.
type question struct {
	text   string
	update int64
}

// letterTo is a message that was asked for under its key, until it was accepted.
type letterTo struct {
	key, text string
	chat      int64
	call      contract.Call
}

// write lets a person write.
func (x *torture) write(r *rand.Rand) {
	chat := firstPerson + r.Int64N(people)
	word := []string{"hello", "hello", "hello", "hello", "slow 300ms", "once"}[r.IntN(6)]
	if r.IntN(10) == 0 {
		chat, word = firstRoller+r.Int64N(rollers), "roll"
	}
	x.mu.Lock()
	n := len(x.asked[chat])
	x.mu.Unlock()
	text := fmt.Sprintf("%s no %d", word, n)
	if id := x.SendText(chat, text); id != 0 {
		x.mu.Lock()
		x.asked[chat] = append(x.asked[chat], question{text: text, update: id})
		x.mu.Unlock()
	}
	linger(r, 50*time.Millisecond, 250*time.Millisecond)
}

// send has a program send a message, and now and then the same once more.
func (x *torture) send(r *rand.Rand) {
	n := x.keys.Add(1)
	m := letterTo{key: fmt.Sprintf("key-%d", n), text: fmt.Sprintf("message %d", n), chat: firstAddressee + r.Int64N(addressees)}
	switch r.IntN(8) {
	case 0:
		m.chat = torturedGroup
	case 1:
		m.chat = refusedChat
		x.Fault(rejected)
	}
	m.call = text(m.chat, m.text)
	m.call.Priority = []contract.Priority{contract.Urgent, contract.Normal, contract.Bulk}[r.IntN(3)]
	m.call.Delivery = []contract.Delivery{contract.AtLeastOnce, contract.AtMostOnce}[r.IntN(2)]
	if m.chat == refusedChat {
		m.call.Delivery = contract.AtMostOnce
	}
	if r.IntN(4) == 0 {
		m.call.At = time.Now().Add(time.Duration(1+r.IntN(4)) * time.Second).UTC()
	}
	for range 1 + r.IntN(2) {
		x.accept(m)
	}
	x.mu.Lock()
	x.messages = append(x.messages, m)
	x.mu.Unlock()
	linger(r, 100*time.Millisecond, 500*time.Millisecond)
}

// rejected is a 400 that the message itself is to blame for.
var rejected = telegramsim.Fault{
	Method: "sendMessage", ChatID: refusedChat, Times: 1, Kind: telegramsim.FaultStatus, Status: http.StatusBadRequest,
	Body: `{"ok":false,"error_code":400,"description":"Bad Request: BUTTON_DATA_INVALID"}`,
}

// replay has somebody replay what was refused.
func (x *torture) replay(r *rand.Rand) {
	linger(r, 2*time.Second, 6*time.Second)
	x.replayRefused()
}

func (x *torture) replayRefused() {
	x.durabot("dead", "replay", "--died-of", string(contract.ReasonRejected), "--yes")
}

// accept asks for a message until Temporal has it.
func (x *torture) accept(m letterTo) {
	for x.ctx.Err() == nil {
		if _, err := x.enqueue(m.key, m.call); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// mail starts a broadcast, and pauses and resumes it.
func (x *torture) mail() {
	file := x.audience(firstOfMailing, mailed)
	x.broadcast("start", "news", "--audience", file, "--text", "news", "--yes")
	x.broadcast("pause", "news", "--reason", "torture")
	x.broadcast("resume", "news")
}

// broadcast gives an order until it is taken, or comes too late.
func (x *torture) broadcast(order ...string) {
	for x.ctx.Err() == nil {
		if _, code := x.durabot(append([]string{"broadcast"}, order...)...); code == 0 || x.mailedToAll() {
			return
		}
	}
}

// mailedToAll reports whether the broadcast is over.
func (x *torture) mailedToAll() bool {
	out, code := x.durabot("broadcast", "status", "news", "-o", "json")
	return code == 0 && parse[mailing](x.t, out).State == "done"
}
