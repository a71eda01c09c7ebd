package worker

import (
	"slices"
	"sync"
	"time"

	"github.com/durabot/durabot/internal/contract"
)

const (
	// tallySlot is what one slot counts.
	tallySlot = 10 * time.Minute
	// tallySlots make a day, the slot that has begun included.
	tallySlots = int(24 * time.Hour / tallySlot)
)

// tally counts events of the last 24 hours, to within ten minutes. Its zero value
// has counted none.
type tally struct {
	mu     sync.Mutex
	slot   int64           // the number of the newest slot since 1970
	counts [tallySlots]int // of the slots, the newest first
}

// add counts one event. A clock that went back counts it in the newest slot.
func (t *tally) add(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.advance(at)
	t.counts[0]++
}

// sum is how many there were in the day before at.
func (t *tally) sum(at time.Time) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.advance(at)
	for _, count := range t.counts {
		n += count
	}
	return n
}

// state is what a successor goes on with.
func (t *tally) state() contract.Tally {
	t.mu.Lock()
	defer t.mu.Unlock()
	used := len(t.counts)
	for used > 0 && t.counts[used-1] == 0 {
		used--
	}
	return contract.Tally{Slot: t.slot, Counts: slices.Clone(t.counts[:used])}
}

// restore goes on with what a predecessor has counted, if there was nothing yet.
func (t *tally) restore(from contract.Tally) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.slot = from.Slot
	copy(t.counts[:], from.Counts)
}

// advance forgets what is a day old.
func (t *tally) advance(at time.Time) {
	passed := at.Unix()/int64(tallySlot/time.Second) - t.slot
	if passed <= 0 {
		return
	}
	t.slot += passed
	moved := t.counts
	t.counts = [tallySlots]int{}
	if passed < int64(tallySlots) {
		copy(t.counts[passed:], moved[:])
	}
}
