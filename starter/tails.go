package starter

import (
	"sync"

	"github.com/durabot/durabot/internal/contract"
)

// Tails remembers, for each ordering key, the newest update that may still be
// open, so that the next one can wait for it. An update known to be done is no
// tail.
type Tails struct {
	finished func(workflowID string) bool

	mu    sync.Mutex
	byKey map[string]tail
	moves int  // since the last sweep
	known bool // what was open before this process is among them
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

// Restore takes over what another process left, or what a list shows. A tail
// that is newer here stays. Nil says that nothing is known, and changes nothing.
func (t *Tails) Restore(left []contract.Tail) {
	if left == nil {
		return
	}
	for _, last := range left {
		t.Move(last.Key, last.UpdateID, last.WorkflowID, true)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known = true
}

// Snapshot returns all tails that are not known to be done, for Restore in the
// next process. It is nil, and they must be looked up there, when there are more
// than most, or when this process does not know those from before it.
func (t *Tails) Snapshot(most int) []contract.Tail {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forgetFinished()
	if !t.known || len(t.byKey) > most {
		return nil
	}
	all := make([]contract.Tail, 0, len(t.byKey))
	for key, last := range t.byKey {
		all = append(all, contract.Tail{Key: key, UpdateID: last.update, WorkflowID: last.id})
	}
	return all
}

func (t *Tails) forgetFinished() {
	for key, last := range t.byKey {
		if t.finished(last.id) {
			delete(t.byKey, key)
		}
	}
	t.moves = 0
}
