package cli

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/sync/errgroup"
)

const (
	// running narrows a query to open workflows.
	running = " AND ExecutionStatus = 'Running'"
	// eraseAtOnce bounds the requests under way.
	eraseAtOnce = 16
	// eraseWait is how long what was deleted may still be found. The server deletes
	// an open workflow at once, and one that was closed a moment ago only when it
	// has written down how far it got, which it does every 30 s.
	eraseWait = 90 * time.Second
	eraseLook = 500 * time.Millisecond
)

// erasure is a chat on its way out.
type erasure struct {
	Program
	*frontend
	erasedChat
	query string
	found int

	mu   sync.Mutex
	gone map[string]bool // the runs whose deletion was accepted: once is enough
}

// run deletes what the query finds until it finds nothing, or the time is over:
// lists lag behind, and more may come meanwhile. A failure may pass, so only the
// last one is returned.
func (e *erasure) run(ctx context.Context) error {
	bar := e.progress("erasing", e.found)
	defer bar.Finish() //nolint:errcheck // a picture for people
	for deadline := time.Now().Add(eraseWait); ; pause(ctx, eraseLook) {
		err := e.pass(ctx, bar)
		if err == nil {
			err = e.look(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && e.Left == 0, time.Now().After(deadline):
			return err
		}
	}
}

// look counts what is left. Unanswered, what was known of it still holds.
func (e *erasure) look(ctx context.Context) error {
	left, err := e.count(ctx, e.query)
	if err == nil {
		e.Left = left
	}
	return err
}

// pass deletes all that is found, several at once. The open ones are listed
// first, the newest of them in front, so hardly one gets the turn of the one
// before it.
func (e *erasure) pass(ctx context.Context, bar *progressbar.ProgressBar) error {
	var found []*workflowpb.WorkflowExecutionInfo
	err := e.each(ctx, e.query, func(info *workflowpb.WorkflowExecutionInfo) bool {
		if !e.gone[info.GetExecution().GetRunId()] {
			found = append(found, info)
		}
		return true
	})
	if err != nil {
		return err
	}
	var group errgroup.Group // one that fails stops none of the others
	group.SetLimit(eraseAtOnce)
	for _, info := range found {
		group.Go(func() error {
			err := e.erase(ctx, info)
			_ = bar.Add(1) // a picture for people
			return err
		})
	}
	return group.Wait()
}

// erase has one run deleted, which ends one that is open.
func (e *erasure) erase(ctx context.Context, info *workflowpb.WorkflowExecutionInfo) error {
	ctx, cancel := context.WithTimeout(ctx, temporalCall)
	defer cancel()
	_, err := e.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace: e.options.Namespace, WorkflowExecution: info.GetExecution(),
	})
	if _, none := errors.AsType[*serviceerror.NotFound](err); err != nil && !none {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.gone[info.GetExecution().GetRunId()] = true
	e.Erased++
	if info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		e.Ended++
	}
	return nil
}
