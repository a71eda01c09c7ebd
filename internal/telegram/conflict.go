package telegram

import (
	"errors"
	"net/http"
)

// ConflictReason is what a 409 on getUpdates is about.
type ConflictReason int

// The reasons. They need different answers: another poller goes away or must be
// stopped, a webhook is a setting that nobody but its owner should delete.
const (
	// NoConflict: the error is not a 409.
	NoConflict ConflictReason = iota
	// OtherPoller: a newer getUpdates of the same bot ended this one.
	OtherPoller
	// WebhookActive: a webhook is set, or was set just now.
	WebhookActive
	// OtherConflict: a 409 whose text tells neither, such as one setWebhook
	// replacing another.
	OtherConflict
)

// ConflictKind tells by its text which conflict err is, NoConflict when none.
func ConflictKind(err error) ConflictReason {
	var e *Error
	if !errors.As(err, &e) || e.code() != http.StatusConflict {
		return NoConflict
	}
	switch {
	case containsFold(e.Description, "terminated by other getUpdates"):
		return OtherPoller
	case containsFold(e.Description, "webhook is active"),
		containsFold(e.Description, "terminated by setWebhook"):
		return WebhookActive
	default:
		return OtherConflict
	}
}

// String is a fixed lower-case word, fit for a metric label.
func (r ConflictReason) String() string {
	switch r {
	case NoConflict:
		return "none"
	case OtherPoller:
		return "other_poller"
	case WebhookActive:
		return "webhook_active"
	default:
		return "other"
	}
}
