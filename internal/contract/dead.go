package contract

import (
	"encoding/json"
	"time"
)

// Kinds of dead letters.
const (
	// DeadMessage is a message whose call died.
	DeadMessage = "message"
	// DeadUpdate is an update whose handler gave up, that could not be read, or of
	// whose calls some died.
	DeadUpdate = "update"
	// PostPrefix begins the key of a DeadUpdate that is none: a post without an
	// update_id, named after its hash. No update's key begins so.
	PostPrefix = "post-"
)

// DeadInput is what a dead letter's workflow starts with, beside the update's own
// bytes, which travel as a payload of their own and are null where Update is nil.
type DeadInput struct {
	BotID int64 `json:"bot_id,string"`
	// Kind is DeadMessage or DeadUpdate, and Key the message's key, or what stands
	// behind the bot in the update's workflow ID.
	Kind string `json:"kind"`
	Key  string `json:"key"`
	// Reason and Error say why it died, Attempts how often it was tried.
	Reason   Reason `json:"reason"`
	Error    string `json:"error,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
	// ChatID is "" for none. Method is that of the call that died; of an update
	// that never got to its calls it is the update's kind.
	ChatID string `json:"chat_id,omitempty"`
	Method string `json:"method,omitempty"`
	// AcceptedAt is when Temporal took what died: the order of a chat's letters.
	AcceptedAt time.Time `json:"accepted_at"`
	// At is when it died.
	At time.Time `json:"at"`
	// Deadline is when it is too late for its calls, zero when nobody said so: only
	// a TTL that was asked for counts.
	Deadline time.Time `json:"deadline,omitzero"`
	// Calls are to be made yet, the one that died first.
	Calls []Call `json:"calls,omitempty"`
	// Ledger is what is known of the first of them.
	Ledger *Ledger `json:"ledger,omitempty"`
	// Delivered counts the calls, and parts of calls, that had arrived before.
	Delivered int `json:"delivered,omitempty"`
	// Update is to be handled again, nil when only calls are left.
	Update *UpdateInput `json:"update,omitempty"`
	// Attributes is whether the namespace knows our search attributes.
	Attributes bool `json:"attributes,omitempty"`
}

// DeadLetterState is where a dead letter stands.
type DeadLetterState string

// The states. Only an open one can be acted on; its workflow is open as well.
const (
	DeadOpen      DeadLetterState = "open"
	DeadReplayed  DeadLetterState = "replayed"
	DeadDiscarded DeadLetterState = "discarded"
	DeadExpired   DeadLetterState = "expired"
)

// DeadLife is how long a dead letter waits for a person.
const DeadLife = 30 * 24 * time.Hour

// DeadState is what a dead letter's workflow shows in its memo, and returns. It
// holds no message text.
type DeadState struct {
	State DeadLetterState `json:"state"`
	// Replaying is set while its calls are made again.
	Replaying  bool      `json:"replaying,omitempty"`
	Kind       string    `json:"kind"`
	Key        string    `json:"key"`
	Reason     Reason    `json:"reason"`
	Error      string    `json:"error,omitempty"`
	Attempts   int       `json:"attempts,omitempty"`
	ChatID     string    `json:"chat_id,omitempty"`
	Method     string    `json:"method,omitempty"`
	AcceptedAt time.Time `json:"accepted_at"`
	At         time.Time `json:"at"`
	Deadline   time.Time `json:"deadline,omitzero"`
	// Left counts the calls that are to be made yet, Delivered those that arrived.
	Left      int `json:"left"`
	Delivered int `json:"delivered,omitempty"`
	// Actions are what people did, the latest last.
	Actions []DeadAction `json:"actions,omitempty"`
}

// ID names the dead letter to people: its kind and its key.
func (s DeadState) ID() string { return s.Kind + "/" + s.Key }

// DeadAction is one thing that a person did to a dead letter.
type DeadAction struct {
	// What is "replay" or "discard".
	What   string    `json:"what"`
	By     string    `json:"by"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
	// Edited is set when the parameters were changed, AllowDuplicate when a
	// duplicate was accepted.
	Edited         bool `json:"edited,omitempty"`
	AllowDuplicate bool `json:"allow_duplicate,omitempty"`
	// Calls are the outcomes of a replay, empty until it has ended.
	Calls []CallResult `json:"calls,omitempty"`
}

// Replay asks a dead letter to make its calls again.
type Replay struct {
	By     string `json:"by"`
	Reason string `json:"reason,omitempty"`
	// Edit is a JSON merge patch (RFC 7396) on the parameters of the first call.
	Edit json.RawMessage `json:"edit,omitempty"`
	// AllowDuplicate is needed for what may have arrived already.
	AllowDuplicate bool `json:"allow_duplicate,omitempty"`
	// TTL is what the calls get; zero leaves the deadline that they had.
	TTL time.Duration `json:"ttl,omitempty"`
	// After is the workflow ID of the dead letter whose replay has to end first.
	After string `json:"after,omitempty"`
}

// Discard gives a dead letter up.
type Discard struct {
	By     string `json:"by"`
	Reason string `json:"reason,omitempty"`
}

// Types of failure with which a dead letter refuses an action.
const (
	// RefusedReplaying: its calls are being made again at this moment.
	RefusedReplaying = "Replaying"
	// RefusedClosed: it has been replayed, discarded or has expired.
	RefusedClosed = "Closed"
	// RefusedUncertain: it may have arrived, and a duplicate was not allowed.
	RefusedUncertain = "MayHaveArrived"
	// RefusedExpired: it is too late for its calls.
	RefusedExpired = "TooLate"
	// RefusedEdit: the change cannot be made.
	RefusedEdit = "BadEdit"
	// RefusedEmpty: too little was kept to try again.
	RefusedEmpty = "NothingKept"
)
