package contract

import "time"

// What a part of a broadcast holds at most. Temporal warns of payloads above
// 512 KiB, and a part's results are about as large as its recipients.
const (
	// PartRecipients is how many recipients.
	PartRecipients = 2000
	// PartBytes is how many bytes they are as JSON, and CallBytes the call.
	PartBytes = 256 << 10
	CallBytes = 128 << 10
)

// Recipient is one chat of a broadcast's audience.
type Recipient struct {
	// Chat is its id in decimal, or an @name. No other recipient has it.
	Chat string `json:"chat_id"`
	// Fields are what a template fills in for it, by name.
	Fields map[string]string `json:"fields,omitempty"`
	// Doubtful is set for one that an earlier broadcast may have reached: what it
	// gets now may be a duplicate.
	Doubtful bool `json:"doubtful,omitempty"`
}

// BroadcastInput is what a broadcast's workflow starts, and continues, with. Its
// parts have been started before it, and hold the audience.
type BroadcastInput struct {
	BotID int64  `json:"bot_id,string"`
	Name  string `json:"name"`
	// Sizes are the numbers of recipients of the parts, which are numbered from 1.
	Sizes []int `json:"sizes"`
	// At is when the first part may begin; zero is now.
	At time.Time `json:"at,omitzero"`
	// State is where the run before this one stood, and at the start who started it.
	State BroadcastState `json:"state"`
	// Open are the parts that were let go and have not ended, and Next the number
	// of the first that was never let go. Both are set by a run that continues.
	Open []PartReport `json:"open,omitempty"`
	Next int          `json:"next,omitempty"`
	// Attributes is whether the namespace knows our search attributes.
	Attributes bool `json:"attributes,omitempty"`
}

// BroadcastPhase is where a broadcast stands.
type BroadcastPhase string

// The phases. Only the last two are final, and their workflow is closed soon.
const (
	BroadcastScheduled BroadcastPhase = "scheduled"
	BroadcastRunning   BroadcastPhase = "running"
	BroadcastPaused    BroadcastPhase = "paused"
	BroadcastDone      BroadcastPhase = "done"
	BroadcastCancelled BroadcastPhase = "cancelled"
)

// BroadcastState is what a broadcast's workflow shows in its memo, and returns. It
// holds no message text and no recipient.
type BroadcastState struct {
	Phase  BroadcastPhase `json:"state"`
	Total  int            `json:"total"`
	Method string         `json:"method"`
	// Rate is the most recipients a second that were asked for, 0 for no limit of
	// its own. Paid is set when Telegram is paid for more than its free rate.
	Rate float64 `json:"rate,omitempty"`
	Paid bool    `json:"paid,omitempty"`
	// Origin is the broadcast whose recipients these were, "" for none.
	Origin string `json:"origin,omitempty"`
	// Counts are of the recipients of the parts that have ended.
	Counts Counts `json:"counts"`
	// Running are the parts that were let go and have not ended.
	Running []int `json:"running,omitempty"`
	// AcceptedAt is when it was accepted, At when it may begin, BeganAt when the
	// first part was let go, EndedAt when the last one had ended.
	AcceptedAt time.Time `json:"accepted_at"`
	At         time.Time `json:"at,omitzero"`
	BeganAt    time.Time `json:"began_at,omitzero"`
	EndedAt    time.Time `json:"ended_at,omitzero"`
	// PausedFor is how long it stood still before the present phase.
	PausedFor time.Duration `json:"paused_for,omitempty"`
	// Actions are what people, and durabot itself, did to it: the last twenty.
	Actions []BroadcastOrder `json:"actions,omitempty"`
}

// Counts are numbers of recipients by what became of them.
type Counts struct {
	// Outcomes are by outcome; a dead one is counted by its reason.
	Outcomes map[string]int `json:"outcomes,omitempty"`
	// PossibleDuplicates are those that may have got it more than once.
	PossibleDuplicates int `json:"possible_duplicates,omitempty"`
}

// What can be done to a broadcast.
const (
	BroadcastPause  = "pause"
	BroadcastResume = "resume"
	BroadcastCancel = "cancel"
)

// BroadcastOrder is something that is done to a broadcast. Done twice, it is as
// if it were done once.
type BroadcastOrder struct {
	// What is one of the three above, or "start".
	What string `json:"what"`
	// By is who, and Reason why; "durabot" pauses one by itself.
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
}

// ByDurabot is the author of what durabot does by itself.
const ByDurabot = "durabot"
