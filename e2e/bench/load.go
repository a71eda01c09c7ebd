package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// load is what people wrote to a bot. Every text is written once, and echoed.
type load struct {
	b *bot
	// name tells the texts of several loads apart, first its chats.
	name  string
	first int64
	sent  map[string]time.Time
	chat  map[int64][]string
}

func newLoad(b *bot, name string, first int64) *load {
	return &load{b: b, name: name, first: first, sent: map[string]time.Time{}, chat: map[int64][]string{}}
}

// write lets the n-th person write.
func (w *load) write(ctx context.Context, n int) error {
	chat, text := w.first+int64(n), fmt.Sprintf("%s %d", w.name, len(w.sent))
	w.sent[text] = time.Now()
	w.chat[chat] = append(w.chat[chat], text)
	return w.b.say(ctx, chat, text)
}

// crowd lets so many people write in turn, at an even rate. Who has begun to write
// when it is ended writes to the end: else nobody could say whether he did.
func (w *load) crowd(ctx context.Context, people, perSecond int, d time.Duration) error {
	tick := time.NewTicker(time.Second / time.Duration(perSecond))
	defer tick.Stop()
	for n := range int(d.Seconds() * float64(perSecond)) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := w.write(context.WithoutCancel(ctx), n%people); err != nil {
			return err
		}
	}
	return nil
}

// answered waits until there are as many replies as questions.
func (w *load) answered(ctx context.Context) error { return w.b.accepted(ctx, len(w.sent)) }

// latencies are the times from question to reply, in ms, sorted. One that has no
// reply has waited until now.
func (w *load) latencies(ledger []message) []float64 {
	now := time.Now()
	replied := map[string]time.Time{}
	for _, m := range slices.Backward(ledger) {
		replied[m.Text] = m.Time // of several the first
	}
	var all []float64
	for text, sent := range w.sent {
		reply, ok := replied[text]
		if !ok {
			reply = now
		}
		all = append(all, float64(reply.Sub(sent).Microseconds())/1000)
	}
	slices.Sort(all)
	return all
}

// faults counts the replies that never came, came again, or came before that to
// an earlier question of their chat.
func (w *load) faults(ledger []message) (lost, doubled, inverted float64) {
	replies := map[int64][]message{}
	for _, m := range ledger {
		replies[m.ChatID] = append(replies[m.ChatID], m)
	}
	for chat, texts := range w.chat {
		place := map[string]int{}
		for i, text := range texts {
			place[text] = i
		}
		seen := map[string]bool{}
		last := -1
		for _, m := range replies[chat] {
			i, mine := place[m.Text]
			switch {
			case !mine:
				continue
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
