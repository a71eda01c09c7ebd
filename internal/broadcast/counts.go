package broadcast

import (
	"context"
	"errors"
	"sync"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"golang.org/x/sync/errgroup"

	"github.com/durabot/durabot/internal/contract"
)

// looksAtOnce is how many parts are looked at side by side.
const looksAtOnce = 8

// openCounts are those of all parts with these IDs.
func openCounts(ctx context.Context, c Viewer, ids []string) (sum contract.Counts, err error) {
	var one sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(looksAtOnce)
	for _, id := range ids {
		group.Go(func() error {
			of, err := partCounts(ctx, c, id)
			one.Lock()
			defer one.Unlock()
			sum.Merge(of)
			return err
		})
	}
	err = group.Wait()
	return sum, err
}

// partCounts are those of a part that has not told its broadcast: of its batches
// that have ended, and of those that have not, as far as they have written. One
// that is forgotten counts nothing.
func partCounts(ctx context.Context, c Viewer, id string) (contract.Counts, error) {
	d, err := describe(ctx, c, id)
	if errors.Is(err, ErrNone) {
		return contract.Counts{}, nil
	}
	if err != nil {
		return contract.Counts{}, err
	}
	var counts contract.Counts
	counts.Merge(stateIn[contract.PartState](d.GetWorkflowExecutionInfo().GetMemo()).Counts)
	counts.Merge(batchCounts(d))
	return counts, nil
}

// batchCounts are those of the batches that are under way.
func batchCounts(d *workflowservice.DescribeWorkflowExecutionResponse) (counts contract.Counts) {
	for _, a := range d.GetPendingActivities() {
		var ledger contract.BatchLedger
		if a.GetActivityType().GetName() != contract.SendBatchActivity || a.GetHeartbeatDetails() == nil {
			continue
		}
		if converter.GetDefaultDataConverter().FromPayloads(a.GetHeartbeatDetails(), &ledger) != nil {
			continue // another version wrote it: it is counted when it has ended
		}
		for _, r := range ledger.Results {
			counts.Add(r)
		}
	}
	return counts
}
