package main

import (
	"context"
	"fmt"
	"time"

	"github.com/durabot/durabot/internal/contract"
)

// punished is the chat under a penalty.
const punished = 999

// penalty is a 429 on one chat for which ten replies and ten messages wait, while
// 200 others write ten times a second, a third longer than the penalty lasts.
func penalty(ctx context.Context, b *bot) ([]figure, error) {
	until, err := b.penalise(ctx, punished, b.Penalty)
	if err != nil {
		return nil, err
	}
	held, others := newLoad(b, "held", punished), newLoad(b, "other", 1000)
	if err := b.hold(ctx, held); err != nil {
		return nil, err
	}
	if err := others.crowd(ctx, 200, 10, b.Penalty*4/3); err != nil {
		return nil, err
	}
	offered := time.Now()
	if err := b.accepted(ctx, 2*len(held.sent)+len(others.sent)); err != nil {
		return nil, err
	}
	ledger, err := b.ledger(ctx)
	if err != nil {
		return nil, err
	}
	calls, err := b.arrivals(ctx, punished)
	lost, _, inverted := held.faults(ledger)
	return []figure{
		{Name: "replies to others meanwhile", Unit: "%", Value: 100 * others.repliedBy(offered, ledger) / float64(len(others.sent)), Goal: "≥ 98"},
		{Name: "calls into it after the first", Unit: "calls", Value: within(calls, until) - 1, Goal: "0"},
		{Name: "lost", Unit: "messages", Value: lost, Goal: "0"},
		{Name: "out of order", Unit: "messages", Value: inverted, Goal: "0"},
	}, err
}

// hold lets the punished chat write, and asks for as many messages to it: replies
// wait one for the other, messages all at once.
func (b *bot) hold(ctx context.Context, held *load) error {
	for n := range b.Held {
		if err := held.write(ctx, 0); err != nil {
			return err
		}
		news := contract.Call{Method: "sendMessage", Params: map[string]any{"chat_id": punished, "text": "news"}}
		if err := b.send(ctx, fmt.Sprintf("held-%d", n), news); err != nil {
			return err
		}
	}
	return nil
}

// repliedBy counts the questions that had a reply by then.
func (w *load) repliedBy(end time.Time, ledger []message) float64 {
	n := 0
	for _, m := range ledger {
		if _, mine := w.sent[m.Text]; mine && m.Time.Before(end) {
			n++
		}
	}
	return float64(n)
}

// within counts the calls that arrived before the end of a penalty.
func within(calls []time.Time, until time.Time) float64 {
	n := 0
	for _, at := range calls {
		if at.Before(until) {
			n++
		}
	}
	return float64(n)
}
