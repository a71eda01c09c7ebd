package limiter

import (
	"container/list"
	"time"
)

// ring holds the flows of one class, those that have lanes ready.
type ring struct {
	list   list.List
	byName map[string]*flow
}

// flow is what belongs together and takes its turns together: a broadcast, or all
// single calls.
type flow struct {
	name  string
	ring  *ring
	lanes list.List
	seat  *list.Element // its place in the ring
	pace  *pace         // nil: none of its own
}

// sit seats a lane in its flow, and the flow in the ring.
func (r *ring) sit(ln *lane, name string, p *pace) {
	f := r.byName[name]
	if f == nil {
		f = &flow{name: name, ring: r}
		if r.byName == nil {
			r.byName = map[string]*flow{}
		}
		r.byName[name], f.seat = f, r.list.PushBack(f)
	}
	f.pace = p
	ln.flow, ln.list, ln.seat = f, &f.lanes, f.lanes.PushBack(ln)
}

// rise takes a flow that has no lane ready out of the ring. The one of all single
// calls stays: it would come and go with each of them.
func (f *flow) rise() {
	if f.name == "" {
		return
	}
	f.ring.list.Remove(f.seat)
	delete(f.ring.byName, f.name)
}

// next returns the first lane of the first flow that lets one go, or when the next
// flow does: never, if none has a lane ready.
func (r *ring) next(now time.Duration) (*lane, time.Duration) {
	opens := never
	for seat := r.list.Front(); seat != nil; seat = seat.Next() {
		f := seat.Value.(*flow)
		if f.lanes.Len() == 0 {
			continue
		}
		if f.open(now) {
			return f.lanes.Front().Value.(*lane), now
		}
		opens = min(opens, f.pace.next)
	}
	return nil, opens
}

// open reports whether the flow lets a lane go; what belongs to none always does.
func (f *flow) open(now time.Duration) bool {
	return f == nil || f.pace.open(now)
}

// waits reports whether a flow would let a lane go.
func (r *ring) waits(now time.Duration) bool {
	ln, _ := r.next(now)
	return ln != nil
}
