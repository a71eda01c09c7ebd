package contract

import (
	"encoding/json"
	"time"
)

// DutyInput is what a duty workflow starts, and continues, with.
type DutyInput struct {
	BotID int64 `json:"bot_id,string"`
	// Handover is what the last holder left, nil when there was none.
	Handover *Handover `json:"handover,omitempty"`
	// Pause is in force, nil when the bot may send.
	Pause *Pause `json:"pause,omitempty"`
}

// DutyState is what a duty workflow shows in its memo.
type DutyState struct {
	Pause *Pause `json:"pause,omitempty"`
}

// Pause stops all sending of a bot until it is taken back.
type Pause struct {
	Reason string    `json:"reason"`
	By     string    `json:"by"`
	At     time.Time `json:"at"`
}

// HoldInput starts one term on duty.
type HoldInput struct {
	BotID    int64     `json:"bot_id,string"`
	Handover *Handover `json:"handover,omitempty"`
}

// Handover is what one holder of the duty leaves for the next. It is the result
// of a term that ended in order, and a part of every heartbeat before that.
type Handover struct {
	// Clean is set by a term that ended in order: nothing was sent after this.
	Clean bool `json:"clean,omitempty"`
	// Limiter is the limiter's own state; nobody else reads it.
	Limiter json.RawMessage `json:"limiter,omitempty"`
	// Tails are the newest open updates by ordering key. Nil says that they are
	// not known, and must be looked up. Only a clean hand-over has them.
	Tails []Tail `json:"tails"`
	// Chats are the marks of the last minute, which a list may not show yet.
	Chats []ChatState `json:"chats,omitempty"`
	// Delivered counts the calls delivered in the last 24 h.
	Delivered Tally `json:"delivered,omitzero"`
}

// Tally counts events in slots of ten minutes.
type Tally struct {
	// Slot is the number of the newest slot since 1970.
	Slot int64 `json:"slot"`
	// Counts are those of the slots, the newest first.
	Counts []int `json:"counts,omitempty"`
}

// Tail is the newest update of an ordering key that may still be open.
type Tail struct {
	Key      string `json:"key"`
	UpdateID int64  `json:"update_id"`
	// WorkflowID is its workflow's.
	WorkflowID string `json:"workflow_id"`
}

// Beat is the heartbeat of a term: what a successor needs if there is nothing
// better, and what an operator wants to see.
type Beat struct {
	Handover Handover `json:"handover"`
	// Since is when the term began.
	Since time.Time `json:"since"`
	// Address is the holder's HTTP address, "" for none.
	Address string  `json:"address,omitempty"`
	Figures Figures `json:"figures"`
}

// Figures are what only the holder of the duty knows.
type Figures struct {
	Limiter LimiterFigures `json:"limiter"`
	// UnreachableChats counts the chats that are closed to the bot.
	UnreachableChats int `json:"unreachable_chats"`
	// DeliveredLast24h counts the calls delivered, to within ten minutes.
	DeliveredLast24h int `json:"delivered_last_24h"`
}

// LimiterFigures is the state of a bot's budget.
type LimiterFigures struct {
	// GlobalPerSecond and PaidPerSecond are the configured rates of the bot, and of
	// what it pays for; 0: no limit.
	GlobalPerSecond float64 `json:"global_per_second"`
	PaidPerSecond   float64 `json:"paid_per_second"`
	// Tokens is how many more items the window of one second takes; -1: no limit.
	Tokens int `json:"tokens"`
	// InAir counts the calls that have left and are not answered.
	InAir int `json:"in_air"`
	// Waiting counts the calls that wait in the holder, by class.
	Waiting map[Priority]int `json:"waiting"`
	// Penalties are Telegram's, ordered by their end.
	Penalties []Penalty `json:"penalties"`
	// Learned are the rates that 429s have lowered, the bot's own first.
	Learned []LearnedRate `json:"learned"`
	// Held are the reasons why nothing at all is sent.
	Held []string `json:"held"`
}

// Reasons why nothing is sent, in LimiterFigures.Held.
const (
	// HeldPaused: an operator wants it.
	HeldPaused = "paused"
	// HeldAway: Telegram cannot be reached.
	HeldAway = "telegram away"
)

// Penalty is one 429 in force.
type Penalty struct {
	// ChatID is "" for a penalty on a method of the whole bot, or on the bot.
	ChatID string `json:"chat_id,omitempty"`
	// Method is "" for all methods.
	Method string    `json:"method,omitempty"`
	Until  time.Time `json:"until"`
}

// LearnedRate is a rate that a 429 has lowered and that recovers.
type LearnedRate struct {
	// ChatID is "" for the whole bot.
	ChatID string `json:"chat_id,omitempty"`
	// Share is what is left of the configured rate, above 0 and below 1.
	Share float64 `json:"share"`
}
