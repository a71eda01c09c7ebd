package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/durabot/durabot/internal/contract"
)

// busyGroup is the chat; a negative id is a group's.
const busyGroup = -4002

// group is a bot that edits a message of a group ten times a second, shows
// "typing" every 2 s and writes every 12 s: far above what a group takes.
func group(ctx context.Context, b *bot) ([]figure, error) {
	id, err := b.toEdit(ctx)
	if err != nil {
		return nil, err
	}
	keys, newest, err := b.storm(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := b.ended(ctx, keys); err != nil {
		return nil, err
	}
	calls, err := b.arrivals(ctx, busyGroup)
	if err != nil {
		return nil, err
	}
	ledger, err := b.ledger(ctx)
	if err != nil {
		return nil, err
	}
	stale := 1.0
	if i := slices.IndexFunc(ledger, func(m message) bool { return m.ID == id }); ledger[i].Text == newest {
		stale = 0
	}
	p, err := b.pulse(ctx)
	return []figure{
		{Name: "calls in any 60 s", Unit: "calls", Value: most(calls, time.Minute), Goal: "≤ 20"},
		{Name: "429s", Unit: "calls", Value: float64(p.Requests.Limited), Goal: "0"},
		{Name: "penalties doubled", Unit: "calls", Value: float64(p.Requests.Violations), Goal: "0"},
		{Name: "without the newest edit", Unit: "messages", Value: stale, Goal: "0"},
	}, err
}

// toEdit sends the message that is edited, and returns its id.
func (b *bot) toEdit(ctx context.Context) (int64, error) {
	if err := b.send(ctx, "first", groupCall("sendMessage", "text", "edit")); err != nil {
		return 0, err
	}
	if err := b.accepted(ctx, 1); err != nil {
		return 0, err
	}
	ledger, err := b.ledger(ctx)
	if err != nil {
		return 0, err
	}
	return ledger[0].ID, nil
}

// storm asks for all of it, one after the other: the order is what tells a newer
// edit from an older one. It returns the keys and the text of the newest edit.
func (b *bot) storm(ctx context.Context, id int64) (keys []string, newest string, err error) {
	ask := func(kind string, n int, call contract.Call) {
		if err == nil {
			keys = append(keys, fmt.Sprintf("%s-%d", kind, n))
			err = b.send(ctx, keys[len(keys)-1], call)
		}
	}
	tick := time.NewTicker(time.Second / 10)
	defer tick.Stop()
	for n := range int(b.Storm.Seconds() * 10) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, "", ctx.Err()
		}
		if n%20 == 0 {
			ask("typing", n, groupCall("sendChatAction", "action", "typing"))
		}
		if n%120 == 0 {
			ask("send", n, groupCall("sendMessage", "text", "news"))
		}
		newest = fmt.Sprintf("edit %d", n)
		edit := groupCall("editMessageText", "text", newest)
		edit.Params.(map[string]any)["message_id"] = id
		ask("edit", n, edit)
	}
	return keys, newest, err
}

func groupCall(method, field, value string) contract.Call {
	return contract.Call{Method: method, Params: map[string]any{"chat_id": busyGroup, field: value}}
}

// most is the largest number of calls in any window of this length.
func most(calls []time.Time, window time.Duration) float64 {
	calls = slices.SortedFunc(slices.Values(calls), time.Time.Compare)
	highest, first := 0, 0
	for last, at := range calls {
		for at.Sub(calls[first]) >= window {
			first++
		}
		highest = max(highest, last-first+1)
	}
	return float64(highest)
}
