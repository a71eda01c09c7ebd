package main

import (
	"context"
	"net"
	"net/http"
	"time"
)

// postRate is how many people write in a second.
const postRate = 200

// hookFlags are those of a bot that takes posts where it serves HTTP.
func hookFlags(address string) []string {
	return []string{
		"--intake", "webhook", "--webhook-url", "http://" + address + "/telegram/webhook",
		"--webhook-secret", "of-the-bench", "--webhook-connections", "100",
	}
}

// freeAddress is one on this machine that nobody listens at.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// webhook is a burst of updates that Telegram posts, 100 at a time at most.
func webhook(ctx context.Context, b *bot) ([]figure, error) {
	w := newLoad(b, "post", 1000)
	if err := w.crowd(ctx, max(1, b.Posts/2), postRate, time.Duration(b.Posts)*time.Second/postRate); err != nil {
		return nil, err
	}
	if err := w.answered(ctx); err != nil {
		return nil, err
	}
	if err := b.until(ctx, "all posts are taken", func(p pulse) bool { return p.Pending == 0 }); err != nil {
		return nil, err
	}
	ledger, err := b.ledger(ctx)
	if err != nil {
		return nil, err
	}
	lost, doubled, _ := w.faults(ledger)
	posts, err := b.deliveries(ctx)
	if err != nil {
		return nil, err
	}
	quick, rate := answers(posts)
	return []figure{
		{Name: "answered within 1 s", Unit: "%", Value: quick, Goal: "≥ 99"},
		{Name: "200s", Unit: "posts/s", Value: rate},
		{Name: "lost", Unit: "updates", Value: lost, Goal: "0"},
		{Name: "doubled", Unit: "updates", Value: doubled, Goal: "0"},
	}, nil
}

// answers is how many posts in a hundred were answered within a second, and how
// many a second were taken.
func answers(posts []delivery) (quick, rate float64) {
	taken, last := 0.0, posts[0].At
	for _, p := range posts {
		if p.Answered.Sub(p.At) <= time.Second && p.Status != 0 {
			quick++
		}
		if p.Status == http.StatusOK {
			taken, last = taken+1, p.Answered
		}
	}
	return 100 * quick / float64(len(posts)), taken / last.Sub(posts[0].At).Seconds()
}
