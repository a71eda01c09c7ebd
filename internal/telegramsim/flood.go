package telegramsim

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// FloodOptions describe a crowd of users writing to the bot.
type FloodOptions struct {
	Updates   int     // how many texts in total; at least 1
	Chats     int     // how many private chats take turns; default 1
	PerSecond float64 // texts per second; 0 is as fast as possible
	FirstChat int64   // id of the first chat; default 2000001
}

// FloodStatus is how far a flood is.
type FloodStatus struct {
	Running bool
	Sent    int
	Updates int
}

// flood is a running or ended crowd. Its counters are guarded by Sim.mu.
type flood struct {
	opts    FloodOptions
	sent    int
	running bool
	stop    chan struct{}
	stopped sync.Once // StopFlood may be called by many, and twice
}

var (
	errFlooding = errors.New("a flood is running already")
	errClosed   = errors.New("simulator is closed")
)

// StartFlood lets many users write in the background: text "flood <n>" in turn
// from each chat. It ends by itself, by StopFlood or by Close. Only one flood
// runs at a time; starting a second is an error.
func (s *Sim) StartFlood(opts FloodOptions) error {
	opts.Chats = max(opts.Chats, 1)
	if opts.FirstChat == 0 {
		opts.FirstChat = 2_000_001
	}
	if opts.Updates < 1 || opts.FirstChat < 0 || opts.PerSecond < 0 {
		return errors.New("flood needs at least 1 update, private chats and no negative rate")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.done:
		return errClosed
	default:
	}
	if s.flood != nil && s.flood.running {
		return errFlooding
	}
	f := &flood{opts: opts, running: true, stop: make(chan struct{})}
	s.flood = f
	s.workers.Go(func() { s.runFlood(f) })
	return nil
}

// StopFlood ends a running flood; no more texts follow once it returned, save
// one that was being sent.
func (s *Sim) StopFlood() {
	s.mu.Lock()
	f := s.flood
	s.mu.Unlock()
	if f != nil {
		f.stopped.Do(func() { close(f.stop) })
	}
}

// Flood tells how far the running or last flood is.
func (s *Sim) Flood() FloodStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.floodStatus()
}

func (s *Sim) floodStatus() FloodStatus {
	if s.flood == nil {
		return FloodStatus{}
	}
	return FloodStatus{Running: s.flood.running, Sent: s.flood.sent, Updates: s.flood.opts.Updates}
}

// runFlood sends as users do, each text under the lock for itself, so that the
// bot's own calls get their turn in between. It keeps to the clock rather than
// sleeping between texts, so that a slow machine catches up instead of falling
// behind.
func (s *Sim) runFlood(f *flood) {
	start := time.Now()
	for n := range f.opts.Updates {
		if !s.floodTurn(f, start, n) {
			break
		}
		s.SendText(f.opts.FirstChat+int64(n%f.opts.Chats), fmt.Sprintf("flood %d", n+1))
		s.mu.Lock()
		f.sent++
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f.running = false
	s.emit(Event{Type: "flood", Sent: f.sent})
}

// floodTurn waits for the n-th text's time, and reports false when the flood is
// to stop.
func (s *Sim) floodTurn(f *flood, start time.Time, n int) bool {
	select {
	case <-f.stop:
		return false
	case <-s.done:
		return false
	default:
	}
	if f.opts.PerSecond == 0 {
		return true
	}
	// From the start, not from the last text: rounding would add up otherwise.
	due := start.Add(time.Duration(float64(n) / f.opts.PerSecond * float64(time.Second)))
	return s.pause(time.Until(due), f.stop)
}
