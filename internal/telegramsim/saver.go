package telegramsim

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	// saveDelay gathers changes before a write.
	saveDelay = 5 * time.Millisecond
	// keepMost bounds how long an answer waits for the file, which in a large state
	// does not keep up.
	keepMost = 250 * time.Millisecond
)

// saver writes the state file.
type saver struct {
	wake chan struct{}
	file sync.Mutex // one writer at a time

	// guarded by Sim.mu
	changes int64         // since New
	kept    int64         // of these, how many the file has
	written chan struct{} // closed and replaced when kept grows
}

// changed asks for a write. It is called with Sim.mu held.
func (s *Sim) changed() {
	s.saver.changes++
	select {
	case s.saver.wake <- struct{}{}:
	default:
	}
}

// keepSaving writes the file soon after each change, and takes no more than a third
// of its time for that. Its errors show at Close, which writes once more.
func (s *Sim) keepSaving() {
	for {
		select {
		case <-s.done:
			return
		case <-s.saver.wake:
		}
		if !s.pause(saveDelay, nil) {
			return
		}
		start := time.Now()
		_ = s.save()
		if took := time.Since(start); took > saveDelay && !s.pause(2*took, nil) {
			return
		}
	}
}

// keep waits until the file has every change up to now: who is killed after an
// answer has then lost nothing that the answer was about, as Telegram would not.
// It gives up after keepMost, when gone is closed and when the simulator ends.
func (s *Sim) keep(gone <-chan struct{}) {
	if s.opts.StateFile == "" {
		return
	}
	timer := time.NewTimer(keepMost)
	defer timer.Stop()
	s.mu.Lock()
	want := s.saver.changes
	s.mu.Unlock()
	for written := s.awaited(want); written != nil; written = s.awaited(want) {
		select {
		case <-written:
		case <-timer.C:
			return
		case <-gone:
			return
		case <-s.done:
			return
		}
	}
}

// awaited is closed at the next write, and nil when the file has so many changes.
func (s *Sim) awaited(changes int64) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.saver.kept >= changes {
		return nil
	}
	return s.saver.written
}

// keeping has the answers of a handler wait for the file.
func (s *Sim) keeping(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			next.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(&keeper{ResponseWriter: w, keep: func() { s.keep(r.Context().Done()) }}, r)
	})
}

// keeper is a response that begins when the file has what it is about.
type keeper struct {
	http.ResponseWriter
	keep func()
}

func (k *keeper) WriteHeader(status int) {
	k.keep()
	k.ResponseWriter.WriteHeader(status)
}

func (k *keeper) Write(p []byte) (int, error) {
	k.keep()
	return k.ResponseWriter.Write(p)
}

// save writes the whole state beside the file and renames it into place, so that a
// process that dies leaves the old state or the new one. The file is not synced: a
// machine that loses power may leave a torn one, which load refuses rather than
// start with half of the updates.
func (s *Sim) save() error {
	s.saver.file.Lock()
	defer s.saver.file.Unlock()
	state, changes := s.snapshot()
	raw, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("encode simulator state: %w", err)
	}
	temp, err := os.CreateTemp(filepath.Dir(s.opts.StateFile), ".sim-*")
	if err != nil {
		return fmt.Errorf("write simulator state: %w", err)
	}
	_, err = temp.Write(raw)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), s.opts.StateFile)
	}
	if err != nil {
		return fmt.Errorf("write simulator state: %w", errors.Join(err, os.Remove(temp.Name())))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saver.kept = changes
	close(s.saver.written)
	s.saver.written = make(chan struct{})
	return nil
}
