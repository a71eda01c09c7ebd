package starter

import "sync"

// Tails remembers, for each ordering key, the newest update that may still be
// open, so that the next one can wait for it. An update known to be done is no
// tail.
type Tails struct {
	finished func(workflowID string) bool

	mu    sync.Mutex
	byKey map[string]tail
	moves int // since the last sweep
}

type tail struct {
	update int64
	id     string
}

// sweepEvery is after how many moves those that are done are forgotten. It is
// well below the number of finished updates that a process remembers, so that
// none is missed and stays for good.
const sweepEvery = 4096

// NewTails returns an empty table. Finished reports whether an update is known
// to be done; false means that it is not known.
func NewTails(finished func(workflowID string) bool) *Tails {
	return &Tails{finished: finished, byKey: make(map[string]tail)}
}

// After is the workflow ID of the update to wait for, "" for none.
func (t *Tails) After(key string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, ok := t.byKey[key]
	if !ok {
		return ""
	}
	if t.finished(last.id) {
		delete(t.byKey, key)
		return ""
	}
	return last.id
}

// Move makes an update the tail of its key. A redelivered one never takes the
// place of a newer one.
func (t *Tails) Move(key string, update int64, id string, redelivered bool) {
	if key == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if last, ok := t.byKey[key]; ok && redelivered && last.update >= update {
		return
	}
	t.byKey[key] = tail{update: update, id: id}
	if t.moves++; t.moves >= sweepEvery {
		t.forgetFinished()
	}
}

func (t *Tails) forgetFinished() {
	for key, last := range t.byKey {
		if t.finished(last.id) {
			delete(t.byKey, key)
		}
	}
	t.moves = 0
}
