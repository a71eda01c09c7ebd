package e2e_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"go.temporal.io/api/serviceerror"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/devserver"
	"github.com/durabot/durabot/internal/telegramsim"
)

// The chats of a crowd.
const (
	talkers       = 100 // from firstTalker on
	firstTalker   = 1001
	readers       = 20 // to whom programs send, from firstReader on
	firstReader   = 2001
	deadChat      = 3000 // whose messages die
	firstPunished = 4000
	firstMailedTo = 5000
	mailedTo      = 300
)

// crowd is a world with a Temporal of its own, and much to do: people who
// converse, and programs that send. It holds what each chat is to get.
type crowd struct {
	*world
	server *devserver.Server
	next   map[int64]time.Time // when a person writes again

	mu    sync.Mutex
	want  map[int64][]string
	due   map[string]time.Time // when a message may leave at the earliest, by its text
	asked int                  // updates
}

func newCrowd(w *world) *crowd {
	x := &crowd{
		world: w, server: w.ownServer(),
		next: map[int64]time.Time{}, want: map[int64][]string{}, due: map[string]time.Time{},
	}
	for chat := range int64(readers) {
		x.CreateChat(telegramsim.Chat{ID: firstReader + chat})
	}
	x.CreateChat(telegramsim.Chat{ID: deadChat})
	return x
}

// busy lets people write and programs send until it is told to stop.
func (x *crowd) busy(quit <-chan struct{}) {
	var all sync.WaitGroup
	defer all.Wait()
	for who, act := range []func(*rand.Rand){x.talk, x.post} {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(x.bot), uint64(who)))
			tick := time.NewTicker(100 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-quit:
					return
				case <-tick.C:
					act(r)
				}
			}
		})
	}
}

// turns are what a person writes at once.
var turns = [][]string{{"hello"}, {"slow 300ms", "hello", "hello"}, {"slow 300ms"}, {"many 3"}, {"once"}, {"key"}, {"later"}}

// talk lets those write who have read their replies, some time after that.
func (x *crowd) talk(r *rand.Rand) {
	missing, now := x.missing(), time.Now()
	for chat := int64(firstTalker); chat < firstTalker+talkers; chat++ {
		switch next := x.next[chat]; {
		case missing[chat] > 0:
		case next.IsZero():
			x.next[chat] = now.Add(time.Duration(r.Int64N(int64(20 * time.Second))))
		case !now.Before(next):
			delete(x.next, chat)
			for _, word := range turns[r.IntN(len(turns))] {
				x.says(chat, word)
			}
		}
	}
}

// says has a person write, and expects what the bot has for that.
func (x *crowd) says(chat int64, word string) {
	text, wanted := word, replies(3)
	if word != "many 3" {
		text = fmt.Sprintf("%s %d-%d", word, chat, x.keys.Add(1))
		wanted = []string{"re: " + text}
	}
	x.expect(chat, wanted...)
	x.SendText(chat, text)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked++
}

func (x *crowd) expect(chat int64, texts ...string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.want[chat] = append(x.want[chat], texts...)
}

// post has a program send a message now and then, some of them for later.
func (x *crowd) post(r *rand.Rand) {
	if r.IntN(3) > 0 {
		return
	}
	chat, key := firstReader+r.Int64N(readers), fmt.Sprintf("post-%d", x.keys.Add(1))
	call := text(chat, key)
	call.Priority = []contract.Priority{contract.Urgent, contract.Normal, contract.Bulk}[r.IntN(3)]
	if r.IntN(4) == 0 {
		call.At = time.Now().Add(time.Duration(1+r.IntN(20)) * time.Second).UTC()
	}
	x.expect(chat, key)
	x.mu.Lock()
	x.due[key] = call.At
	x.mu.Unlock()
	// Again with the same key, as a program does, where a server that loses a shard
	// for a moment says that the namespace is not there. Any other error is one.
	assert.Eventually(x.t, func() bool {
		_, err := x.enqueue(key, call)
		_, lost := errors.AsType[*serviceerror.NamespaceNotFound](err)
		if !lost {
			assert.NoError(x.t, err)
		}
		return !lost
	}, patience, lookEvery, "message %s is accepted", key)
}

// missing counts, by chat, what has not arrived.
func (x *crowd) missing() map[int64]int {
	got := map[int64]int{}
	for _, m := range x.Ledger(0) {
		got[m.ChatID]++
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	all := map[int64]int{}
	for chat, want := range x.want {
		if n := len(want) - got[chat]; n > 0 {
			all[chat] = n
		}
	}
	return all
}

// judge: everybody has got what was expected, each once and in order; what
// programs send has none.
func (x *crowd) judge() {
	x.t.Helper()
	for chat, want := range x.want {
		if chat >= firstReader && chat < firstReader+readers {
			assert.ElementsMatch(x.t, want, x.texts(chat), "chat %d", chat)
			continue
		}
		assert.Equal(x.t, want, x.texts(chat), "chat %d", chat)
	}
	for _, m := range x.Ledger(0) {
		due := x.due[m.Text].Truncate(time.Millisecond)
		assert.False(x.t, m.Time.Before(due), "%s left %s early", m.Text, due.Sub(m.Time))
	}
}
