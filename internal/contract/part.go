package contract

import "time"

// BroadcastCall is what every recipient of a broadcast gets.
type BroadcastCall struct {
	// Call has no chat_id: each recipient's is put in. Its TTL begins when a batch
	// of recipients is handed out, its Delivery decides what an unknown outcome
	// means, and its priority is bulk.
	Call Call `json:"call"`
	// Template fills in the recipient's fields.
	Template bool `json:"template,omitempty"`
	// Rate is the most recipients a second, 0 for no limit of its own.
	Rate float64 `json:"rate,omitempty"`
}

// PartInput is what a part of a broadcast starts, and continues, with. A recipient
// is either among the recipients or among the results.
type PartInput struct {
	BotID int64  `json:"bot_id,string"`
	Name  string `json:"name"`
	// Part is its number, from 1, and Parts how many there are.
	Part  int           `json:"part"`
	Parts int           `json:"parts"`
	What  BroadcastCall `json:"what"`
	// Recipients are still to be reached, and Results how the others ended.
	Recipients []Addressee       `json:"recipients"`
	Results    []RecipientResult `json:"results,omitempty"`
	// Until is when a part ends by itself that was never let go: then its
	// broadcast was never started.
	Until time.Time `json:"until"`
	// Phase is where the run before this one stood, "" for never let go.
	Phase BroadcastPhase `json:"phase,omitempty"`
	// Told is set once the part has said that only those who must wait are left.
	Told bool `json:"told,omitempty"`
}

// Addressee is a recipient that is still to be reached.
type Addressee struct {
	Recipient
	// NotBefore holds it back, zero does not.
	NotBefore time.Time `json:"not_before,omitzero"`
	// Ledger is what is known of earlier tries, nil when there was none.
	Ledger *Ledger `json:"ledger,omitempty"`
	// DoubtOf is the batch (BatchLedger.Batch) that left it in doubt whether a
	// request was made: its process may know. "" for none, and of older releases.
	DoubtOf string `json:"doubt_of,omitempty"`
}

// RecipientResult is how one recipient of a broadcast ended. Error never holds
// message text.
type RecipientResult struct {
	Chat string `json:"chat_id"`
	// Outcome is final; NotSent is one of its own.
	Outcome           Outcome   `json:"outcome"`
	Reason            Reason    `json:"reason,omitempty"`
	MessageID         string    `json:"message_id,omitempty"`
	Error             string    `json:"error,omitempty"`
	At                time.Time `json:"at"`
	PossibleDuplicate bool      `json:"possible_duplicate,omitempty"`
	Degraded          bool      `json:"degraded,omitempty"`
	MovedTo           string    `json:"moved_to,omitempty"`
}

// Told is the outcome in one word: a dead one is told by its reason.
func (r RecipientResult) Told() string {
	if r.Outcome == Dead {
		return string(r.Reason)
	}
	return string(r.Outcome)
}

// PartResult is the result of a part's workflow, and the answer to ResultsQuery.
type PartResult struct {
	Counts  Counts            `json:"counts"`
	Results []RecipientResult `json:"results"`
	// Left are the chats that have no outcome yet; none in the result of a workflow.
	Left []string `json:"left,omitempty"`
}

// PartState is what a part's workflow shows in its memo.
type PartState struct {
	// Phase is "" until the part is let go.
	Phase BroadcastPhase `json:"state,omitempty"`
	Total int            `json:"total"`
	// Counts are of the batches that have ended.
	Counts Counts `json:"counts"`
}

// PartReport is what a part tells its broadcast.
type PartReport struct {
	Part   int    `json:"part"`
	Counts Counts `json:"counts"`
	// Ended is set by a part that has an outcome for each recipient. One that has
	// not, and is in no trouble, only waits: every recipient that is left has to.
	Ended bool `json:"ended,omitempty"`
	// Trouble is why the broadcast should pause, "" when it should not.
	Trouble string `json:"trouble,omitempty"`
}

// BatchInput is some recipients of a part, to be reached by one SendBatch.
type BatchInput struct {
	// Broadcast is the name, and Part the number of the part.
	Broadcast  string        `json:"broadcast"`
	Part       int           `json:"part"`
	Parts      int           `json:"parts"`
	What       BroadcastCall `json:"what"`
	Recipients []Addressee   `json:"recipients"`
	// Deadline is when the recipients expire.
	Deadline time.Time `json:"deadline"`
}

// BatchResult is what became of a batch. Each recipient is in one of the two.
type BatchResult struct {
	Results []RecipientResult `json:"results,omitempty"`
	Left    []Addressee       `json:"left,omitempty"`
	// Trouble is why nobody else of the broadcast should be tried, "" for no
	// trouble.
	Trouble string `json:"trouble,omitempty"`
}

// BatchLedger is what must survive a retry of a batch. It lives in the heartbeat
// details of its activity, always whole.
type BatchLedger struct {
	// Attempt is the one that wrote it.
	Attempt int32 `json:"attempt"`
	// Batch names the batch among all there ever are.
	Batch string `json:"batch,omitempty"`
	// Results are those of the recipients that have an outcome.
	Results []RecipientResult `json:"results,omitempty"`
	// InFlight are the chats to which a request may be under way.
	InFlight []string `json:"in_flight,omitempty"`
	// Left is what is known of recipients that were tried and have no outcome.
	Left []Addressee `json:"left,omitempty"`
}

// Add counts a recipient.
func (c *Counts) Add(r RecipientResult) {
	if c.Outcomes == nil {
		c.Outcomes = map[string]int{}
	}
	c.Outcomes[r.Told()]++
	if r.PossibleDuplicate {
		c.PossibleDuplicates++
	}
}

// Merge adds what was counted elsewhere. A sum is the same in any order.
//
//workflowcheck:ignore
func (c *Counts) Merge(other Counts) {
	if c.Outcomes == nil && len(other.Outcomes) > 0 {
		c.Outcomes = map[string]int{}
	}
	for outcome, n := range other.Outcomes {
		c.Outcomes[outcome] += n
	}
	c.PossibleDuplicates += other.PossibleDuplicates
}

// Sum is how many recipients were counted.
//
//workflowcheck:ignore
func (c Counts) Sum() (n int) {
	for _, of := range c.Outcomes {
		n += of
	}
	return n
}
