package limiter_test

import (
	"encoding/json"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/worker/limiter"
)

// current returns the limiter that is on duty.
func (w *world) current() *limiter.Limiter {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Limiter
}

// handOver stops the limiter and lets another one go on with its state. Calls in
// the air are lost: nobody waits for their answer any more.
func (w *world) handOver(cfg limiter.Config) {
	synctest.Wait()
	w.Stop()
	raw, err := json.Marshal(w.State())
	require.NoError(w.t, err)
	var state limiter.State
	require.NoError(w.t, json.Unmarshal(raw, &state))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(event{what: handedOver})
	for _, s := range w.sends {
		if s.answered < 0 {
			s.answered, s.lost = w.now(), true
		}
	}
	w.Limiter = limiter.Restore(cfg, state)
	for reason := range w.held {
		w.Hold(reason)
	}
}

// hold holds the bot; an empty set of reasons lets it go on.
func (w *world) hold(reason string) {
	w.mu.Lock()
	w.held[reason] = struct{}{}
	w.note(event{what: holding})
	w.mu.Unlock()
	w.current().Hold(reason)
}

func (w *world) release(reason string) {
	w.mu.Lock()
	if delete(w.held, reason); len(w.held) == 0 {
		w.note(event{what: released})
	}
	w.mu.Unlock()
	w.current().Release(reason)
}

// move gives a group another id, which nobody has used before.
func (w *world) move(from int64) {
	w.mu.Lock()
	from = w.present(from)
	to := from - 10
	w.moves[from] = to
	w.note(event{what: moved})
	w.mu.Unlock()
	w.current().Move(from, to)
}

// present returns the last id of a chat; w.mu is held, or the world at rest.
func (w *world) present(chat int64) int64 {
	for w.moves[chat] != 0 {
		chat = w.moves[chat]
	}
	return chat
}
