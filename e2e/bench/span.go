package main

import (
	"net/http"
	"slices"
	"time"
)

// span is a time, and spans are several that do not overlap. One that ends before
// it begins is none.
type (
	span  struct{ from, to time.Time }
	spans []span
)

func (s spans) hold(at time.Time) bool {
	return slices.ContainsFunc(s, func(one span) bool { return !at.Before(one.from) && at.Before(one.to) })
}

// rate is how many calls to chats a second arrived in these times.
func (s spans) rate(calls []request) float64 {
	var long time.Duration
	for _, one := range s {
		long += max(0, one.to.Sub(one.from))
	}
	n := 0
	for _, c := range calls {
		if c.ChatID != 0 && s.hold(c.Arrived) {
			n++
		}
	}
	return float64(n) / long.Seconds()
}

// during is what people wrote in these times.
func (w *load) during(s spans) *load {
	some := newLoad(w.b, w.name, w.first)
	for text, at := range w.sent {
		if s.hold(at) {
			some.sent[text] = at
		}
	}
	return some
}

// limited counts the calls that were answered 429, but for those where that was
// arranged.
func limited(calls []request) float64 {
	n := 0
	for _, c := range calls {
		if c.Status == http.StatusTooManyRequests && c.Fault == 0 {
			n++
		}
	}
	return float64(n)
}
