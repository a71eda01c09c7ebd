package telegramsim

import (
	"strings"
	"time"
)

const (
	paidSpan      = time.Second
	freeOfThose   = 30 // of the paid calls of a second that cost nothing
	callsPerStar  = 10
	plentyOfStars = 1_000_000
)

// payable are the methods with allow_paid_broadcast, by lower-case name (Bot API
// docs); elsewhere it means nothing.
var payable = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq(`sendmessage copymessage sendphoto sendlivephoto sendaudio senddocument sendvideo
		sendanimation sendvoice sendvideonote sendpaidmedia sendmediagroup sendlocation sendvenue sendcontact sendpoll
		senddice sendsticker sendgame sendinvoice sendrichmessage`) {
		names[name] = true
	}
	return names
}()

// paid reports whether a call leaves at the paid rate.
func (c *call) paid() bool {
	return payable[c.method] && c.flag("allow_paid_broadcast")
}

// StarsSpent is what paid broadcasts have cost so far: a tenth of a Star for each
// message above 30 of the paid ones of the last second (Bot API docs, Paid
// Broadcasts).
func (s *Sim) StarsSpent() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.starsSpent()
}

func (s *Sim) starsSpent() float64 {
	return float64(s.charged) / callsPerStar
}

// botWindow returns the window of the whole bot that a call spends.
func (s *Sim) botWindow(c *call) (w *window, span time.Duration, limit int) {
	if c.paid() {
		return &s.paid, paidSpan, s.limits.PaidPerSecond
	}
	return &s.global, s.limits.GlobalWindow, s.limits.Global
}

// pay charges a call that both windows have room for. How the real server refuses
// one is not published, so both texts are the simulator's own.
func (s *Sim) pay(c *call, weight int) *answer {
	if !c.paid() {
		return nil
	}
	if s.opts.Stars < 0 {
		return badRequest("paid broadcasts are not switched on for this bot (simulator)")
	}
	cost := int64(min(weight, max(0, s.paid.total+weight-freeOfThose)))
	if s.charged+cost > s.opts.Stars*callsPerStar {
		return badRequest("not enough Stars for a paid broadcast (simulator)")
	}
	s.charged += cost
	return nil
}
