package main

import (
	"context"
	"strconv"
	"time"
)

// load is what people wrote to a bot. Every text is written once, and echoed.
type load struct {
	b    *bot
	sent map[string]time.Time
	chat map[int64][]string
}

func newLoad(b *bot) *load {
	return &load{b: b, sent: map[string]time.Time{}, chat: map[int64][]string{}}
}

func (w *load) write(chat int64) {
	text := "no " + strconv.Itoa(len(w.sent))
	w.sent[text] = time.Now()
	w.chat[chat] = append(w.chat[chat], text)
	w.b.SendText(chat, text)
}

// answered waits until there are as many replies as questions.
func (w *load) answered(ctx context.Context) error {
	return w.b.until(ctx, "every update is answered", func() bool { return w.b.Accepted() >= int64(len(w.sent)) })
}

// faults counts the replies that never came, came again, or came before that to
// an earlier question of their chat.
func (w *load) faults() (lost, doubled, inverted float64) {
	for chat, texts := range w.chat {
		place := map[string]int{}
		for i, text := range texts {
			place[text] = i
		}
		seen := map[string]bool{}
		last := -1
		for _, m := range w.b.Ledger(chat) {
			switch i := place[m.Text]; {
			case seen[m.Text]:
				doubled++
			case i < last:
				inverted++
			default:
				last = i
			}
			seen[m.Text] = true
		}
		lost += float64(len(texts) - len(seen))
	}
	return lost, doubled, inverted
}
