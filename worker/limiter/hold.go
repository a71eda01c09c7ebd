package limiter

import (
	"maps"
	"slices"
)

// Hold stops all granting, also of calls that do not count, until every reason
// is taken back with [Limiter.Release]. Calls wait for it as they wait for the
// bot: in place. A reason holds once, however often it is given.
func (l *Limiter) Hold(reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[reason] = struct{}{}
	l.dispatch(l.now())
}

// Release takes a reason of [Limiter.Hold] back; one that does not hold is
// ignored. After the last one calls go at the even rate: what was not sent
// meanwhile is not made up for.
func (l *Limiter) Release(reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, reason)
	l.dispatch(l.now())
}

// reasons lists what holds, sorted; nil if nothing does.
func (l *Limiter) reasons() []string {
	return slices.Sorted(maps.Keys(l.held))
}
