package workflows

import (
	"encoding/json"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// board is what a workflow shows of its state to those who describe or list it.
// It is written only when it changes: every write is an event. A run that
// continues another starts with what that one showed, so what is in force is
// always to be seen.
type board struct {
	memo      string
	attribute string
}

// shownBefore is the board of a workflow that was started with a state and an
// outcome.
//
//workflowcheck:ignore
func shownBefore(state any, outcome string) board {
	data, _ := json.Marshal(state) // one that does not marshal is shown again, and logged
	return board{memo: string(data), attribute: outcome}
}

// show puts the state into the memo.
//
// What is flagged here is encoding/json, which is free of clock and chance.
//
//workflowcheck:ignore
func (b *board) show(ctx workflow.Context, state any) {
	data, err := json.Marshal(state)
	if err == nil && string(data) == b.memo {
		return
	}
	if err == nil {
		err = workflow.UpsertMemo(ctx, map[string]any{contract.MemoState: state})
	}
	if err != nil {
		workflow.GetLogger(ctx).Warn("the state cannot be shown", "error", err)
		return
	}
	b.memo = string(data)
}

// showOutcome puts the outcome into TgOutcome; "" leaves it as it is.
func (b *board) showOutcome(ctx workflow.Context, outcome string) {
	if outcome == "" || outcome == b.attribute {
		return
	}
	key := temporal.NewSearchAttributeKeyKeyword(contract.AttributeOutcome)
	if err := workflow.UpsertTypedSearchAttributes(ctx, key.ValueSet(outcome)); err != nil {
		workflow.GetLogger(ctx).Warn("the outcome cannot be shown", "error", err)
		return
	}
	b.attribute = outcome
}
