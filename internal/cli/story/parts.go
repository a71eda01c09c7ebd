package story

import (
	"cmp"
	"slices"
	"strings"
)

// and is the call together with its next part. It stands where that part stands.
func (c Call) and(part Call) Call {
	sum := part
	sum.Key, sum.AcceptedAt = cmp.Or(c.Key, part.Key), c.AcceptedAt
	sum.MessageID = cmp.Or(c.MessageID, part.MessageID)
	sum.MessageIDs = slices.Concat(c.Messages(), part.Messages())
	sum.Attempts += c.Attempts
	sum.PossibleDuplicate = c.PossibleDuplicate || part.PossibleDuplicate
	sum.Degraded = c.Degraded || part.Degraded
	sum.MovedTo = cmp.Or(part.MovedTo, c.MovedTo)
	return sum
}

// Messages are the ids of those that the call has become.
func (c Call) Messages() []string {
	if len(c.MessageIDs) == 0 && c.MessageID != "" {
		return []string{c.MessageID}
	}
	return c.MessageIDs
}

// deadLetter is the id inside a dead letter's workflow ID.
func deadLetter(workflowID string) string {
	if parts := strings.SplitN(workflowID, "/", 3); len(parts) == 3 {
		return parts[2]
	}
	return workflowID
}
