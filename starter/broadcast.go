package starter

import (
	"context"
	"errors"
	"fmt"
	"time"

	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/durabot/durabot/internal/contract"
)

// Broadcasts accepts broadcasts: each is a workflow, once for its name, and one for
// each part of its audience.
type Broadcasts struct {
	client     Client
	bot        int64
	attributes bool
	now        func() time.Time
}

// NewBroadcasts returns the way in for a bot's broadcasts. Attributes is whether
// the namespace knows our search attributes.
func NewBroadcasts(client Client, bot int64, attributes bool) *Broadcasts {
	return &Broadcasts{client: client, bot: bot, attributes: attributes, now: time.Now}
}

// Broadcast is one call to many chats.
type Broadcast struct {
	// Name is its own for as long as Temporal remembers it.
	Name string
	// What is the call, without a chat_id, and how it is made.
	What contract.BroadcastCall
	// Recipients are who gets it, each chat once.
	Recipients []contract.Recipient
	// At is when it may begin; zero or past is now.
	At time.Time
	// Paid has Telegram paid in Stars for more than its free rate. It is the same as
	// allow_paid_broadcast among the parameters.
	Paid bool
	// Origin is the broadcast whose recipients these were, "" for none. By is who
	// starts it, and Reason why.
	Origin, By, Reason string

	sealed *sealed
}

// BroadcastStart is a broadcast that Temporal has.
type BroadcastStart struct {
	Name       string
	WorkflowID string
	Parts      int
	// Duplicate is set when it had been started before: nothing is sent by this start.
	Duplicate bool
	// At is when it was accepted; for a duplicate that is the first time.
	At time.Time
}

// ErrOtherBroadcast is wrapped by Start for a name under which another broadcast was
// started, in whole or in part. That one stays as it is.
var ErrOtherBroadcast = errors.New("the name belongs to a broadcast with another content or audience: choose another name")

// Moves returns what Audience.Follow asks for: where a chat is now, by all that
// Temporal knows of chats that moved. It takes over a second.
func (b *Broadcasts) Moves(ctx context.Context) (func(chat int64) int64, error) {
	moves := chatMoves{}
	err := eachOpen(ctx, b.client, contract.ChatWorkflow, b.bot, func(info *workflowpb.WorkflowExecutionInfo) {
		var s contract.ChatState
		memoInto(info.GetMemo(), contract.MemoState, &s)
		if s.Moved != nil {
			moves.add(s.ChatID, *s.Moved)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("list chats that moved: %w", err)
	}
	return moves.end, nil
}
