package limiter

import (
	"fmt"
	"time"
)

// Class says how much a call matters; see the package comment for what a lower
// class is still promised.
type Class uint8

// The classes, most important first.
const (
	// Urgent is for what a person looks at a spinner for.
	Urgent Class = iota
	// Normal is for replies.
	Normal
	// Bulk is for broadcasts and replays.
	Bulk

	classes = 3
)

// String returns the name used in flags, metrics and JSON.
func (c Class) String() string {
	switch c {
	case Urgent:
		return "urgent"
	case Normal:
		return "normal"
	case Bulk:
		return "bulk"
	}
	return fmt.Sprintf("class(%d)", uint8(c))
}

// Request describes one Bot API call that wants to leave.
type Request struct {
	// Chat is the chat's id: negative for a group or channel, 0 for a call that
	// names no chat and so waits for no other.
	Chat int64
	// Method is the Bot API method, such as "sendMessage". It only matters for
	// penalties: one may turn out to be the method's alone.
	Method string
	// Items is how many messages the call makes: the size of an album or batch,
	// else 1. A call that does not count may leave it 0.
	Items int
	// Class decides who goes first when the bot's budget is short.
	Class Class
	// Counts is false for a call that spends no budget (answers to queries,
	// deletes, reads): it keeps no order and waits for penalties only.
	Counts bool
	// Since orders calls inside (chat, class), smallest first. It should be the
	// time the call was first scheduled and the same at each attempt, because a
	// call that comes back finds its kept place by it. Zero means now.
	Since time.Time
	// Flow is what the call belongs to, such as a broadcast, "" for none. Inside a
	// class flows take turns, however much of each waits. All calls of a flow are of
	// one class, and either paid for or not.
	Flow string
	// FlowPerSecond is the even rate of the flow, in items a second, as the newest of
	// its requests says; 0 for none of its own. A wait for it is sat out in place. It
	// means nothing without a Flow.
	FlowPerSecond float64
	// Paid calls spend a budget of their own in place of the bot's free one. The
	// limits of chats hold for them, and the slots in the air are common.
	Paid bool
	// Transient marks a call that is of no use later, such as sendChatAction. It
	// goes within a second or ends with [ErrDropped], never makes another call of
	// its chat wait for its turn, and does not take the chat's last slot: the
	// reply that it announces would wait for that. A chat whose burst is 1 has no
	// slot to spare, so there it is always dropped.
	Transient bool
	// Edits names the message that the call edits and how, such as
	// "editMessageText/17"; of several with the same name in a chat only the
	// newest by Since is sent, in the place of the one that waited longest. It
	// needs a Chat and Counts; "" is for all other calls.
	Edits string
}

// coalesces reports whether a newer call can take the place of this one.
func (r Request) coalesces() bool {
	return r.Edits != "" && r.Chat != 0 && r.Counts && !r.Transient
}

func (r Request) validate() error {
	if r.Class >= classes {
		return fmt.Errorf("request: want a class up to %d, got %d", Bulk, uint8(r.Class))
	}
	if r.Counts && (r.Items < 1 || r.Items > 1e6) {
		return fmt.Errorf("request: want 1 to 1e6 items, got %d", r.Items)
	}
	if r.FlowPerSecond != 0 && !(r.FlowPerSecond >= slowest && r.FlowPerSecond <= 1e6) {
		return fmt.Errorf("request: want a rate of the flow of 0 (none) or %g to 1e6, got %g", slowest, r.FlowPerSecond)
	}
	return nil
}
