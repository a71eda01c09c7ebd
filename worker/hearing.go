package worker

import "fmt"

const (
	// heardOf is how many of the last polls count.
	heardOf = 20
	// heardAgain is how many in a row have to be answered after a time in which
	// most failed.
	heardAgain = 3
)

// hearing remembers how the last polls went. A poll that gets through now and
// then, beside another process that polls, does not make a bot hear.
type hearing struct {
	failed [heardOf]bool
	polls  int
	row    int // answered in a row
	last   string
}

// note takes the end of a poll.
func (h *hearing) note(err error) {
	h.failed[h.polls%heardOf] = err != nil
	h.polls++
	h.row++
	if err != nil {
		h.row, h.last = 0, err.Error()
	}
}

// trouble says what is wrong with it, "" for nothing.
func (h *hearing) trouble() string {
	n := 0
	for _, failed := range h.failed {
		if failed {
			n++
		}
	}
	if 2*n < heardOf || h.row >= heardAgain {
		return ""
	}
	return fmt.Sprintf("%d of the last %d polls failed, the last one that did: %s", n, heardOf, h.last)
}
