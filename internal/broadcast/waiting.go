package broadcast

import (
	"context"
	"strings"

	"github.com/durabot/durabot/internal/contract"
)

// Waiting is what waits in a bot's broadcasts.
type Waiting struct {
	// Broadcasts is how many run, and Recipients how many of theirs have no outcome.
	Broadcasts, Recipients int64
	// Requests is how many requests it took to know.
	Requests int
}

// Wait tells what waits in the broadcasts that run: of those that are scheduled,
// paused or cancelled nothing does. It takes one request while there is none, and
// for the parts under way as many as there are, or one when they are more than
// most. Then what their open batches have done still counts, 500 recipients of a
// part at most, and of the parts beyond a thousand all that they have done.
func Wait(ctx context.Context, c Viewer, bot int64, most int) (Waiting, error) {
	w := Waiting{Requests: 1}
	found, err := list(ctx, c, bot, contract.BroadcastWorkflow, "ExecutionStatus = 'Running'", nil)
	if err != nil {
		return w, err
	}
	var parts []string
	for _, info := range found.GetExecutions() {
		state := shown(info)
		if state.Phase != contract.BroadcastRunning {
			continue
		}
		w.Broadcasts++
		w.Recipients += int64(state.Total - state.Counts.Sum())
		for _, n := range state.Running {
			parts = append(parts, contract.PartID(bot, nameOf(info), n))
		}
	}
	counts, err := w.countParts(ctx, c, bot, parts, most)
	w.Recipients = max(0, w.Recipients-int64(counts.Sum()))
	return w, err
}

// countParts counts the recipients of parts that have an outcome.
func (w *Waiting) countParts(ctx context.Context, c Viewer, bot int64, ids []string, most int) (sum contract.Counts, err error) {
	if len(ids) <= most {
		w.Requests += len(ids)
		return openCounts(ctx, c, ids)
	}
	w.Requests++
	// One that has just ended counts, so that it is not pending until its broadcast
	// has heard of it. No name of a broadcast holds a quote.
	which := "ExecutionStatus != 'ContinuedAsNew' AND WorkflowId IN ('" + strings.Join(ids[:min(len(ids), listPage)], "', '") + "')"
	found, err := list(ctx, c, bot, contract.BroadcastPartWorkflow, which, nil)
	if err != nil {
		return sum, err
	}
	for _, info := range found.GetExecutions() {
		sum.Merge(stateIn[contract.PartState](info.GetMemo()).Counts)
	}
	return sum, nil
}
