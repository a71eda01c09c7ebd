package contract

import "time"

// UpdateInput is what an update's workflow starts with, beside the update's own
// bytes, which travel as a payload of their own so that the history shows them
// exactly as Telegram sent them.
type UpdateInput struct {
	BotID      int64     `json:"bot_id,string"`
	UpdateID   int64     `json:"update_id"`
	Kind       string    `json:"kind"`
	ChatID     int64     `json:"chat_id,string"`
	UserID     int64     `json:"user_id,string"`
	CallbackID string    `json:"callback_id,omitempty"`
	ReceivedAt time.Time `json:"received_at"`
	// After is the workflow ID of the chat's previous open update, "" for none.
	After string `json:"after,omitempty"`
	// Dead is why the update cannot be handled at all, "" when it can.
	Dead Reason `json:"dead,omitempty"`
	// Expired is set for an update older than the operator wants handled.
	Expired bool `json:"expired,omitempty"`
	// Handling is frozen here so that a change of settings never breaks a replay.
	Handling Handling `json:"handling"`
	// Attributes is whether the namespace knows our search attributes.
	Attributes bool `json:"attributes,omitempty"`
	// Counted makes the update show in TgOutcome when its handler's result is
	// recorded, so that what waits can be counted. Older starts did not ask for it.
	Counted bool `json:"counted,omitempty"`
}

// Handling is how an update is handled.
type Handling struct {
	// Timeout bounds one attempt of the handler. Default 5 s.
	Timeout time.Duration `json:"timeout"`
	// Attempts is how often the handler is tried in all. Default 3.
	Attempts int `json:"attempts"`
	// AnswerCallbacks answers a callback query before its turn.
	AnswerCallbacks bool `json:"answer_callbacks,omitempty"`
}

// HandleInput addresses one run of the handler.
type HandleInput struct {
	UpdateID   int64     `json:"update_id"`
	Kind       string    `json:"kind"`
	ChatID     int64     `json:"chat_id,string"`
	UserID     int64     `json:"user_id,string"`
	ReceivedAt time.Time `json:"received_at"`
}

// TurnInput asks whether the update before Self is done.
type TurnInput struct {
	Self  string `json:"self"`
	After string `json:"after"`
}

// PassInput says that Self is done and who waits for that.
type PassInput struct {
	Self   string   `json:"self"`
	Askers []string `json:"askers,omitempty"`
	// Again is set by one that may be waited for once more: who waits now is woken,
	// and nothing is remembered.
	Again bool `json:"again,omitempty"`
}

// SendInput is one call on its way.
type SendInput struct {
	Call Call `json:"call"`
	// Deadline is when the call expires.
	Deadline time.Time `json:"deadline"`
	// HoldsTurn makes a call that fails for over a minute leave its update's turn.
	HoldsTurn bool `json:"holds_turn,omitempty"`
	// Ledger is what an earlier activity knew of the same call.
	Ledger *Ledger `json:"ledger,omitempty"`
}

// Ledger is what must survive a retry of a call. It lives in the heartbeat
// details of its activity, always whole.
type Ledger struct {
	// Attempt is the last attempt that ended in a known way.
	Attempt int32 `json:"attempt"`
	// Failures counts what counts against the call; 429s and pacing do not.
	Failures int `json:"failures,omitempty"`
	// Floods counts 429s in a row that named no delay.
	Floods int `json:"floods,omitempty"`
	// InFlight is set while an at-most-once request may have left.
	InFlight bool `json:"in_flight,omitempty"`
	// PossibleDuplicate is set once an attempt's outcome is unknown.
	PossibleDuplicate bool `json:"possible_duplicate,omitempty"`
	// FailingSince is when the call first failed for a reason of its own.
	FailingSince time.Time `json:"failing_since,omitzero"`
	// Since is when an earlier activity was to make the call, zero for none: an edit
	// that was overtaken stays older than those that came after it.
	Since time.Time `json:"since,omitzero"`
	// MovedTo is the chat that took the place of the call's own.
	MovedTo int64 `json:"moved_to,omitempty,string"`
	// Degraded is set once the call goes without its parse_mode.
	Degraded bool `json:"degraded,omitempty"`
	// Error is the last failure, without message text.
	Error string `json:"error,omitempty"`
}

// Doubtful reports whether an earlier attempt may have arrived. Nil knows of none.
func (l *Ledger) Doubtful() bool { return l != nil && l.PossibleDuplicate }

// MessageInput is one call with a workflow of its own.
type MessageInput struct {
	BotID int64  `json:"bot_id,string"`
	Key   string `json:"key"`
	Call  Call   `json:"call"`
	// Deadline is when the call expires; zero is its TTL after the time it may leave.
	Deadline time.Time `json:"deadline,omitzero"`
	// NotBefore holds back a call that has left its update's turn.
	NotBefore time.Time `json:"not_before,omitzero"`
	// Overtaken is set for a call that has left its update's turn.
	Overtaken bool `json:"overtaken,omitempty"`
	// Ledger is what the update's send knew of it.
	Ledger *Ledger `json:"ledger,omitempty"`
	// Rest are the parts of a call that was cut, to be made after Call.
	Rest []Call `json:"rest,omitempty"`
	// Parts are what is known of the parts that were made before Call.
	Parts []CallResult `json:"parts,omitempty"`
	// After is the workflow ID of the message that has to end first, "" for none.
	After string `json:"after,omitempty"`
	// AfterDelivered ends the message cancelled when that one was not delivered.
	AfterDelivered bool `json:"after_delivered,omitempty"`
	// AcceptedAt is when the call was accepted; zero is the start of the workflow.
	AcceptedAt time.Time `json:"accepted_at,omitzero"`
	// CancelWaits makes a cancel wait for a request that has left, whose answer
	// then counts. Older starts did not ask for it.
	CancelWaits bool `json:"cancel_waits,omitempty"`
	// Counted makes a call that a handler wants made later begin a new run when its
	// time has come, so that what waits can be counted. Older starts did not ask
	// for it.
	Counted bool `json:"counted,omitempty"`
	// Attributes is whether the namespace knows our search attributes.
	Attributes bool `json:"attributes,omitempty"`
}

// SplitResult is a call that was cut.
type SplitResult struct {
	// Calls are to be made one after the other; one that needed no cut is alone.
	Calls []Call `json:"calls"`
	// Degraded is set when the text could not be parsed and goes without its
	// parse_mode, as its PlainFallback wants.
	Degraded bool `json:"degraded,omitempty"`
}
