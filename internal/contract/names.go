package contract

import (
	"fmt"
	"strconv"
	"strings"
)

// Names of workflow types, as the Temporal UI shows them.
const (
	UpdateWorkflow  = "UpdateWorkflow"
	MessageWorkflow = "MessageWorkflow"
	ChatWorkflow    = "ChatWorkflow"
	DutyWorkflow    = "DutyWorkflow"

	DeadLetterWorkflow = "DeadLetterWorkflow"

	BroadcastWorkflow     = "BroadcastWorkflow"
	BroadcastPartWorkflow = "BroadcastPartWorkflow"
)

// Names of activities.
const (
	HandleActivity   = "Handle"
	SendActivity     = "Send"
	HoldDutyActivity = "HoldDuty"

	SendBatchActivity = "SendBatch"
)

// Signals between update workflows of one chat.
const (
	// WakeMeSignal asks an update to say when it is done; it carries the asker's workflow ID.
	WakeMeSignal = "wake-me"
	// YourTurnSignal answers it.
	YourTurnSignal = "your-turn"
)

// Signals to a chat's workflow.
const (
	// ChatMarkSignal carries a ChatMark.
	ChatMarkSignal = "mark"
	// ChatClearSignal carries a ChatClear.
	ChatClearSignal = "clear"
)

// Signals to a duty workflow.
const (
	// PauseSignal carries a Pause.
	PauseSignal = "pause"
	// ResumeSignal carries a Pause that says who resumed, and why.
	ResumeSignal = "resume"
)

// Signals to a broadcast's workflow, and to its parts.
const (
	// OrderSignal carries a BroadcastOrder. A broadcast's is one of BroadcastPause,
	// BroadcastResume and BroadcastCancel; that of a part may be PartGo as well.
	OrderSignal = "order"
	// PartSignal carries the PartReport of a part.
	PartSignal = "part"
)

// PartGo lets a part go. Told again, it changes nothing.
const PartGo = "go"

// ResultsQuery asks a part for its PartResult so far.
const ResultsQuery = "results"

// Updates of a dead letter's workflow. Both answer when they are accepted.
const (
	// ReplayUpdate carries a Replay.
	ReplayUpdate = "replay"
	// DiscardUpdate carries a Discard.
	DiscardUpdate = "discard"
)

// Keys of memos.
const (
	// MemoHash is the SHA-256 of an update as canonical JSON, or of what a message
	// sends.
	MemoHash = "hash"
	// MemoOrder is the update's ordering key.
	MemoOrder = "order"
	// MemoState is a chat's ChatState, the duty's DutyState, a DeadState, a
	// BroadcastState or a PartState.
	MemoState = "state"
)

// Search attributes, all of type Keyword. Everything works without them.
const (
	AttributeChat    = "TgChat"
	AttributeKind    = "TgKind"
	AttributeOutcome = "TgOutcome"
)

// Values of TgOutcome beside outcomes and reasons.
const (
	// OutcomeDuplicate: delivered, and perhaps twice.
	OutcomeDuplicate = "possible_duplicate"
	// OutcomeHandled: an update whose handler's result is recorded, and whose calls
	// are made or have been.
	OutcomeHandled = "handled"
	// OutcomeScheduled: a message of a handler whose time has not come.
	OutcomeScheduled = "scheduled"
	// OutcomeReplaying: a dead letter whose calls are made again.
	OutcomeReplaying = "replaying"
)

// SearchAttributes lists the attributes that setup registers.
func SearchAttributes() []string {
	return []string{AttributeChat, AttributeKind, AttributeOutcome}
}

// TaskQueue is the queue of a bot's workflows and handlers.
func TaskQueue(bot int64) string { return "durabot-" + strconv.FormatInt(bot, 10) }

// SendQueue is the queue of calls of one class. A queue in the server is strict
// about priorities: in a common one bulk would never reach the budget, which
// alone is fair, while replies keep it filled.
func SendQueue(bot int64, p Priority) string {
	queue := TaskQueue(bot) + "-send"
	switch p {
	case Urgent, Bulk:
		return queue + "-" + string(p)
	default:
		return queue
	}
}

// BatchQueue is the queue of broadcasts. A batch stays for minutes, so it shares
// no place with single calls.
func BatchQueue(bot int64) string { return TaskQueue(bot) + "-send-batch" }

// AnswerQueue is the queue of answers to queries, which wait for nothing.
func AnswerQueue(bot int64) string { return TaskQueue(bot) + "-answer" }

// DutyQueue is the queue of the right to talk to Telegram for a bot.
func DutyQueue(bot int64) string { return TaskQueue(bot) + "-duty" }

// UpdateID is the workflow ID of an update.
func UpdateID(bot, update int64) string { return fmt.Sprintf("update/%d/%d", bot, update) }

// ReusedUpdateID is the workflow ID of an update whose update_id another update
// bore more than six days earlier.
func ReusedUpdateID(bot, update int64, hash string) string {
	return UpdateID(bot, update) + "/" + hash[:8]
}

// MessageID is the workflow ID of a message with a key of its own.
func MessageID(bot int64, key string) string { return fmt.Sprintf("message/%d/%s", bot, key) }

// ChatID is the workflow ID of what is exceptional about a chat.
func ChatID(bot, chat int64) string { return fmt.Sprintf("chat/%d/%d", bot, chat) }

// DeadID is the workflow ID of a dead letter. Id is what DeadState.ID returns.
func DeadID(bot int64, id string) string { return fmt.Sprintf("dead/%d/%s", bot, id) }

// BroadcastID is the workflow ID of a broadcast, whose name holds no slash.
func BroadcastID(bot int64, name string) string { return fmt.Sprintf("broadcast/%d/%s", bot, name) }

// PartID is the workflow ID of part n (from 1) of a broadcast.
func PartID(bot int64, name string, n int) string {
	return fmt.Sprintf("%s/%d", BroadcastID(bot, name), n)
}

// DutyID is the workflow ID of the right to talk to Telegram for a bot.
func DutyID(bot int64) string { return fmt.Sprintf("duty/%d", bot) }

// CallKey is the key under which call n (from 0) of an update becomes a message
// of its own when its author gave it none.
func CallKey(update int64, n int) string { return fmt.Sprintf("update-%d-%d", update, n) }

// UpdateOf returns the update_id inside an update's workflow ID.
func UpdateOf(workflowID string) (int64, bool) {
	parts := strings.Split(workflowID, "/")
	if len(parts) < 3 || parts[0] != "update" {
		return 0, false
	}
	id, err := strconv.ParseInt(parts[2], 10, 64)
	return id, err == nil
}
