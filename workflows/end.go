package workflows

import (
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// showEnd puts into TgOutcome how an update or a message ended, if that is not
// as wished. Known is whether the namespace has the attribute: where it does
// not, the write would hold the workflow up for ever.
func showEnd(ctx workflow.Context, known bool, end string) {
	if known && end != "" && has(ctx, outcomeAttribute) {
		new(board).showOutcome(ctx, end)
	}
}

// showHandled puts into TgOutcome that the handler's result is recorded, where
// calls are to be made in the update's turn: it leaves with the first of them.
func (u *update) showHandled(ctx workflow.Context, calls []contract.Call) {
	inTurn := func(c contract.Call) bool { return !c.Separate() }
	if u.in.Counted && u.in.Attributes && slices.ContainsFunc(calls, inTurn) {
		new(board).showOutcome(ctx, contract.OutcomeHandled)
	}
}

// takeBackScheduled takes back what a message was started with when its time had
// not come.
func takeBackScheduled(ctx workflow.Context) {
	key := temporal.NewSearchAttributeKeyKeyword(contract.AttributeOutcome)
	if was, _ := workflow.GetTypedSearchAttributes(ctx).GetKeyword(key); was != contract.OutcomeScheduled {
		return
	}
	if err := workflow.UpsertTypedSearchAttributes(ctx, key.ValueUnset()); err != nil {
		workflow.GetLogger(ctx).Warn("the outcome cannot be taken back", "error", err)
	}
}

// unwished are the ends that are neither a death nor what was wished, the worst
// first.
var unwished = []string{
	string(contract.Cancelled), string(contract.Expired), string(contract.Unreachable),
	contract.OutcomeDuplicate, string(contract.Superseded), string(contract.Dropped),
}

// endOf is how a call ended: for a death its reason, "" for what was wished and
// for what has not ended.
func endOf(c contract.CallResult) string {
	switch end := string(c.Outcome); {
	case c.Outcome == contract.Dead:
		return string(c.Reason)
	case c.Outcome == contract.Delivered && c.PossibleDuplicate:
		return contract.OutcomeDuplicate
	case slices.Contains(unwished, end):
		return end
	default:
		return ""
	}
}

// worstOf is how an update ended: its own end, or else the worst of its calls'.
func worstOf(res contract.UpdateResult) string {
	if own := endOf(contract.CallResult{Outcome: res.Outcome, Reason: res.Reason}); own != "" {
		return own
	}
	var ends []string
	for _, c := range res.Calls {
		ends = append(ends, endOf(c))
	}
	for _, end := range unwished {
		if slices.Contains(ends, end) {
			return end
		}
	}
	return ""
}
