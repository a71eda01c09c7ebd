package contract

import "encoding/json"

// Outcome is how a call, or an update, ended. Every accepted call ends in
// exactly one.
type Outcome string

// The outcomes. Pending is the one that is not final; in an update's result it
// marks a call that went on as a message workflow of its own.
const (
	Pending     Outcome = "pending"
	Delivered   Outcome = "delivered"
	Unreachable Outcome = "unreachable"
	Expired     Outcome = "expired"
	Cancelled   Outcome = "cancelled"
	Superseded  Outcome = "superseded" // a newer edit of the same message took its place
	Dropped     Outcome = "dropped"    // "typing…" that would have come too late
	Dead        Outcome = "dead"
	// NotSent is the outcome of a recipient of a cancelled broadcast that was not
	// tried, or not to the end.
	NotSent Outcome = "not_sent"
	// Done is the outcome of an update whose calls all have theirs.
	Done Outcome = "done"
)

// Reason says why something is dead.
type Reason string

// The reasons.
const (
	ReasonRejected      Reason = "rejected"
	ReasonUncertain     Reason = "uncertain"
	ReasonGaveUp        Reason = "gave_up"
	ReasonHandlerFailed Reason = "handler_failed"
	ReasonUndecodable   Reason = "undecodable"
	ReasonTooLarge      Reason = "too_large"
	ReasonMovedTwice    Reason = "moved_twice"
)

// CallResult is the outcome of one call. Error never holds message text.
type CallResult struct {
	Method    string  `json:"method"`
	ChatID    string  `json:"chat_id,omitempty"`
	Outcome   Outcome `json:"outcome"`
	Reason    Reason  `json:"reason,omitempty"`
	MessageID string  `json:"message_id,omitempty"`
	// MessageIDs are those of all parts of a call that was cut.
	MessageIDs        []string `json:"message_ids,omitempty"`
	PossibleDuplicate bool     `json:"possible_duplicate,omitempty"`
	Degraded          bool     `json:"degraded,omitempty"`
	Overtaken         bool     `json:"overtaken,omitempty"`
	Attempts          int      `json:"attempts,omitempty"`
	Error             string   `json:"error,omitempty"`
	// WorkflowID is the message workflow in which a pending call went on.
	WorkflowID string `json:"workflow_id,omitempty"`
	// MovedTo is the supergroup that took the chat's place, "" for none.
	MovedTo string `json:"moved_to,omitempty"`
}

// UpdateResult is the result of an update's workflow, and the detail of its
// failure when it died.
type UpdateResult struct {
	Outcome Outcome `json:"outcome"`
	Reason  Reason  `json:"reason,omitempty"`
	// Calls are the outcomes of what the handler returned, in its order.
	Calls []CallResult `json:"calls,omitempty"`
	// Answer is the outcome of the automatic answer to a callback query.
	Answer *CallResult `json:"answer,omitempty"`
}

// Address is the chat_id of a call's parameters as a string: a number in
// decimal, an @name as it is, "" for none.
func Address(params json.RawMessage) string {
	var p struct {
		ChatID json.RawMessage `json:"chat_id"`
	}
	if json.Unmarshal(params, &p) != nil || len(p.ChatID) == 0 {
		return ""
	}
	var name string
	if json.Unmarshal(p.ChatID, &name) == nil {
		return name
	}
	return string(p.ChatID)
}
