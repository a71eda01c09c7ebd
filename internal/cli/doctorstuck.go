package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	workflowpb "go.temporal.io/api/workflow/v1"
	"golang.org/x/sync/errgroup"

	"github.com/durabot/durabot/internal/contract"
)

const (
	// stuckAttempt is the attempt at a workflow task that says that it fails: the
	// second may follow the kill of a process.
	stuckAttempt = 3
	// stuckListed is how many open workflows are listed, stuckLooked at how many of
	// the newest, and of the oldest, is looked, and stuckNamed how many are named.
	stuckListed, stuckLooked, stuckNamed = 5000, 100, 5
	// stuckAtOnce is how many are looked at at a time.
	stuckAtOnce = 8
)

// examineStuck looks for workflows whose tasks fail: the server tells an attempt
// of the task of one workflow, and counts none of all.
func (d *doctor) examineStuck(ctx context.Context, s *frontend) {
	const name = "stuck_workflows"
	open, err := s.openOf(ctx, d.bot)
	if err != nil {
		d.find(name, levelWarning, "they cannot be listed: "+err.Error(), "run `durabot doctor` again")
		return
	}
	looked := ends(open, stuckLooked)
	stuck := s.failing(ctx, looked)
	if len(stuck) == 0 {
		d.find(name, levelOK, fmt.Sprintf("none of %d open ones", len(looked)), "")
		return
	}
	what := fmt.Sprintf("%d of %d: %s", len(stuck), len(looked), strings.Join(stuck[:min(len(stuck), stuckNamed)], ", "))
	d.find(name, levelProblem, what, "the log of `durabot run` has the error: roll back to the release that began them, or mend the code")
}

// openOf are the IDs of a bot's open workflows, the newest first.
func (s *frontend) openOf(ctx context.Context, bot int64) (ids []string, err error) {
	query := fmt.Sprintf("TaskQueue = '%s'%s", contract.TaskQueue(bot), running)
	err = s.each(ctx, query, func(info *workflowpb.WorkflowExecutionInfo) bool {
		ids = append(ids, info.GetExecution().GetWorkflowId())
		return len(ids) < stuckListed
	})
	return ids, err
}

// ends are the first and the last n.
func ends(all []string, n int) []string {
	if len(all) <= 2*n {
		return all
	}
	return append(slices.Clone(all[:n]), all[len(all)-n:]...)
}

// failing are those of the workflows whose tasks fail. One that is gone, or that
// cannot be looked at, is none.
func (s *frontend) failing(ctx context.Context, ids []string) (stuck []string) {
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(stuckAtOnce)
	for _, id := range ids {
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, temporalCall)
			defer cancel()
			d, err := s.inspect(ctx, id)
			if task := d.GetPendingWorkflowTask(); err == nil && task.GetAttempt() >= stuckAttempt {
				mu.Lock()
				defer mu.Unlock()
				stuck = append(stuck, fmt.Sprintf("%s (attempt %d)", id, task.GetAttempt()))
			}
			return nil
		})
	}
	_ = group.Wait() // none returns an error
	slices.Sort(stuck)
	return stuck
}
