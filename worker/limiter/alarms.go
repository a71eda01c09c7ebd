package limiter

import (
	"container/heap"
	"time"
)

// sleeper is what an alarm wakes.
type sleeper interface {
	wake(l *Limiter, now time.Duration)
}

// alarm is one pending wake-up, part of its owner. The zero value is not set.
type alarm struct {
	at    time.Duration
	place int // in the heap, counted from 1; 0: not set
	owner sleeper
}

// alarms orders all pending wake-ups by time.
type alarms []*alarm

// set moves a to the instant at; never clears it.
func (as *alarms) set(a *alarm, owner sleeper, at time.Duration) {
	if at == never {
		as.clear(a)
		return
	}
	a.at, a.owner = at, owner
	if a.place == 0 {
		heap.Push(as, a)
		return
	}
	heap.Fix(as, a.place-1)
}

func (as *alarms) clear(a *alarm) {
	if a.place > 0 {
		heap.Remove(as, a.place-1)
	}
}

// next returns the instant of the first alarm, never if there is none.
func (as alarms) next() time.Duration {
	if len(as) == 0 {
		return never
	}
	return as[0].at
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (as alarms) Len() int           { return len(as) }
func (as alarms) Less(i, j int) bool { return as[i].at < as[j].at }
func (as alarms) Swap(i, j int) {
	as[i], as[j] = as[j], as[i]
	as[i].place, as[j].place = i+1, j+1
}

// Push is called by package heap only.
func (as *alarms) Push(x any) {
	a := x.(*alarm)
	*as = append(*as, a)
	a.place = len(*as)
}

// Pop is called by package heap only.
func (as *alarms) Pop() any {
	last := len(*as) - 1
	a := (*as)[last]
	(*as)[last] = nil
	*as = (*as)[:last]
	a.place = 0
	return a
}
