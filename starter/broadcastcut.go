package starter

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"

	"github.com/durabot/durabot/internal/contract"
)

// sealed is a broadcast that has been checked: its parts, and the hash by which it
// is told from another one of its name.
type sealed struct {
	hash  string
	parts [][]contract.Recipient
}

// cutter cuts recipients into parts, and hashes them.
type cutter struct {
	hash   hash.Hash
	sizes  []int // numbers of recipients of the parts, the last still open
	filled int   // bytes of the last part
}

// newCutter begins with what the recipients get: the call as Call.Hash has it, and
// how it is made. The time is no part of the hash.
func newCutter(what contract.BroadcastCall) (*cutter, error) {
	call, err := what.Call.Hash()
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(struct {
		Call     string
		Template bool
		Rate     float64
	}{call, what.Template, what.Rate})
	if err != nil {
		return nil, fmt.Errorf("hash broadcast: %w", err)
	}
	c := &cutter{hash: sha256.New(), sizes: []int{0}}
	c.hash.Write(head)
	return c, nil
}

// add is the next recipient, as JSON.
func (c *cutter) add(recipient json.RawMessage) {
	c.hash.Write(recipient) // objects one after the other are told apart by their braces
	size := len(recipient) + len(",")
	last := len(c.sizes) - 1
	if n := c.sizes[last]; n > 0 && (n == contract.PartRecipients || c.filled+size > contract.PartBytes) {
		c.sizes, c.filled = append(c.sizes, 0), 0
		last++
	}
	c.sizes[last]++
	c.filled += size
}

// end returns the parts of the recipients that were added.
func (c *cutter) end(all []contract.Recipient) *sealed {
	s := &sealed{hash: hex.EncodeToString(c.hash.Sum(nil))}
	for _, n := range c.sizes {
		s.parts = append(s.parts, all[:n])
		all = all[n:]
	}
	return s
}
