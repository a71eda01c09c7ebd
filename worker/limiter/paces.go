package limiter

import "time"

// mostPaces is how many paces are remembered before those are looked for that are
// over.
const mostPaces = 64

// paces are the even rates of flows that have one of their own, by name.
type paces map[string]*pace

// pace is one such rate; nil is none, which never closes.
type pace struct {
	step, next time.Duration // between two items, and when it lets the next call go
}

func (p *pace) open(now time.Duration) bool {
	return p == nil || p.next <= now
}

// set takes in the rate that a new request names. A new flow starts as if it had
// just sent one item, because what an earlier process sent is not known.
func (p paces) set(c *call, now time.Duration) {
	req := &c.req
	known := p[req.Flow]
	switch {
	case req.FlowPerSecond == 0 && known != nil:
		*known = pace{}
	case req.FlowPerSecond == 0:
	case known != nil:
		known.step = seconds(1 / req.FlowPerSecond)
	default:
		p.prune(now)
		step := seconds(1 / req.FlowPerSecond)
		p[req.Flow] = &pace{step: step, next: now + step}
	}
}

// prune forgets what is over once there is much of it.
func (p paces) prune(now time.Duration) {
	if len(p) < mostPaces {
		return
	}
	for name, old := range p {
		if old.open(now) {
			delete(p, name)
		}
	}
}

// spend moves the pace of a granted call's flow on. It may have been forgotten
// while the call waited.
func (p paces) spend(c *call, now time.Duration) {
	f := p[c.req.Flow]
	switch {
	case f != nil:
		f.next = max(f.next, now-lateness) + time.Duration(c.req.Items)*f.step
	case c.req.Flow != "" && c.req.FlowPerSecond > 0:
		p.set(c, now)
	}
}
