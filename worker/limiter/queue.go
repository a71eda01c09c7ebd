package limiter

import "math/rand/v2"

// queue keeps the calls of one (chat, class) in the order of (order, seq). It is
// a treap threaded through the calls themselves: besides the first call it must
// tell, in logarithmic time, how many items stand before any other.
type queue struct {
	root *call
}

// node is a call's part of its queue.
type node struct {
	left, right *call
	weight      uint32
	sum         int // items of this call and all below it
}

func (q *queue) insert(c *call) {
	c.node = node{weight: rand.Uint32(), sum: c.req.Items}
	before, after := split(q.root, c)
	q.root = merge(merge(before, c), after)
}

func (q *queue) remove(c *call) {
	q.root = without(q.root, c)
	c.node = node{}
}

// first returns the call that is next, nil if the queue is empty.
func (q *queue) first() *call {
	c := q.root
	for c != nil && c.left != nil {
		c = c.left
	}
	return c
}

// firstOf returns the first call that matches, nil if none does. It takes time in
// proportion to those before.
func (q *queue) firstOf(match func(*call) bool) *call {
	return q.root.firstOf(match)
}

// items returns the sum of all items in the queue.
func (q *queue) items() int {
	return q.root.total()
}

// before returns the sum of the items that go before c.
func (q *queue) before(c *call) int {
	sum := 0
	for n := q.root; n != nil; {
		if n.less(c) {
			sum += n.left.total() + n.req.Items
			n = n.right
			continue
		}
		n = n.left
	}
	return sum
}

// at returns the first call at this point of the order that matches, or nil.
func (q *queue) at(order int64, match func(*call) bool) *call {
	return q.root.at(order, match)
}

// walk visits the calls in order; visit must not change the queue.
func (c *call) walk(visit func(*call)) {
	if c == nil {
		return
	}
	c.left.walk(visit)
	visit(c)
	c.right.walk(visit)
}

func (c *call) firstOf(match func(*call) bool) *call {
	if c == nil {
		return nil
	}
	if found := c.left.firstOf(match); found != nil {
		return found
	}
	if match(c) {
		return c
	}
	return c.right.firstOf(match)
}

func (c *call) at(order int64, match func(*call) bool) *call {
	switch {
	case c == nil:
		return nil
	case order < c.order:
		return c.left.at(order, match)
	case order > c.order:
		return c.right.at(order, match)
	}
	if found := c.left.at(order, match); found != nil {
		return found
	}
	if match(c) {
		return c
	}
	return c.right.at(order, match)
}

func (c *call) less(other *call) bool {
	if c.order != other.order {
		return c.order < other.order
	}
	return c.seq < other.seq
}

func (c *call) total() int {
	if c == nil {
		return 0
	}
	return c.sum
}

func (c *call) recount() *call {
	c.sum = c.left.total() + c.req.Items + c.right.total()
	return c
}

// split parts the tree into the calls before at and the rest.
func split(c, at *call) (before, after *call) {
	if c == nil {
		return nil, nil
	}
	if c.less(at) {
		c.right, after = split(c.right, at)
		return c.recount(), after
	}
	before, c.left = split(c.left, at)
	return before, c.recount()
}

// merge joins two trees of which all of a goes before all of b.
func merge(a, b *call) *call {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.weight > b.weight:
		a.right = merge(a.right, b)
		return a.recount()
	}
	b.left = merge(a, b.left)
	return b.recount()
}

func without(c, gone *call) *call {
	switch {
	case c == nil:
		return nil
	case c == gone:
		return merge(c.left, c.right)
	case gone.less(c):
		c.left = without(c.left, gone)
	default:
		c.right = without(c.right, gone)
	}
	return c.recount()
}
