package starter

import "net/http"

// PostsMost is how many posts are taken at a time.
const PostsMost = postsMost

// Through has passes go by this transport.
func (r *Relay) Through(transport http.RoundTripper) { r.client.Transport = transport }

// KnownKinds are the update kinds that ParseRoute reads.
func KnownKinds() []string {
	var all []string
	for kind := range kinds {
		all = append(all, kind)
	}
	return all
}

// SweepEvery is after how many moves the tails are swept.
const SweepEvery = sweepEvery

// Len is how many keys have a tail.
func (t *Tails) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.byKey)
}

// SeenLen is of how many chats the last update is remembered.
func (c *Chats) SeenLen() (n int) {
	c.with(func(m *chatMarks) { n = len(m.seen) })
	return n
}
