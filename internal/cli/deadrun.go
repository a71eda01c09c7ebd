package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"github.com/durabot/durabot/internal/contract"
)

const (
	// lanesAtOnce is how many chats are gone through side by side.
	lanesAtOnce = 16
	// updateAnswer is how long a dead letter may take to answer. With no process
	// to run its workflow it never does.
	updateAnswer = 10 * time.Second
)

// errNoAnswer is for a dead letter that did not answer in time. The server may
// still hold the question for a process that comes soon.
var errNoAnswer = errors.New("no process runs the bot's workflows: start `durabot run`; it may be taken later")

// deadRun is one command on its way through dead letters.
type deadRun struct {
	Program
	*frontend
	verb    deadVerb
	targets *deadTargets
	id      string            // of the updates: however often one is sent, it is one
	chosen  []deadLetter      // in the order of what was accepted
	behind  map[string]string // by workflow ID, the letter before it that is being replayed

	mu       sync.Mutex
	skipped  skips
	refused  []deadRefusal
	accepted []deadLetter // as they stood when they accepted
	failed   error        // why no more were asked, or waited for
	followed bool         // until each had ended
}

// deadRefusal is a dead letter that would not have it.
type deadRefusal struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

func newDeadRun(p Program, s *frontend, v deadVerb, t *deadTargets) *deadRun {
	return &deadRun{
		Program: p, frontend: s, verb: v, targets: t, id: rand.Text(), behind: map[string]string{}, skipped: skips{},
		refused: []deadRefusal{},
	}
}

// all asks every letter that was chosen: chats side by side, those of one chat one
// after the other.
func (r *deadRun) all(outer context.Context) {
	bar := r.progress(r.verb.doing, len(r.chosen))
	group, ctx := errgroup.WithContext(outer)
	group.SetLimit(lanesAtOnce)
	for _, lane := range r.lanes() {
		group.Go(func() error { return r.lane(ctx, lane, bar) })
	}
	r.failed = group.Wait()
	_ = bar.Finish() // a picture for people
	if !errors.Is(r.failed, errNoAnswer) {
		return
	}
	if _, err := r.retention(outer); err != nil {
		r.failed = r.why(err) // it is Temporal that does not answer
	}
}

// lanes are the letters by chat. One without a chat is behind nobody.
func (r *deadRun) lanes() [][]deadLetter {
	slices.SortStableFunc(r.chosen, inOrder)
	var lanes [][]deadLetter
	of := map[string]int{}
	for _, d := range r.chosen {
		i, known := of[d.ChatID]
		if !known || d.ChatID == "" || !r.verb.ordered {
			i = len(lanes)
			of[d.ChatID], lanes = i, append(lanes, nil)
		}
		lanes[i] = append(lanes[i], d)
	}
	return lanes
}

func (r *deadRun) lane(ctx context.Context, lane []deadLetter, bar *progressbar.ProgressBar) error {
	after := r.behind[lane[0].workflowID]
	for _, d := range lane {
		state, err := r.ask(ctx, d, after)
		switch {
		case err == nil:
			after = d.workflowID
			d.DeadState = state
			r.take(d)
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errNoAnswer):
			return err
		case r.refuse(ctx, d, err) == contract.RefusedReplaying:
			after = d.workflowID // somebody was faster, and it keeps its place
		}
		_ = bar.Add(1) // a picture for people
	}
	return nil
}

// ask has the letter's workflow do it, and returns when it has accepted.
func (r *deadRun) ask(ctx context.Context, d deadLetter, after string) (contract.DeadState, error) {
	call, cancel := context.WithTimeout(ctx, updateAnswer)
	defer cancel()
	var state contract.DeadState
	handle, err := r.UpdateWorkflow(call, client.UpdateWorkflowOptions{
		UpdateID: r.id, WorkflowID: d.workflowID, UpdateName: r.verb.update, Args: []any{r.verb.args(after)},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(call, &state)
	}
	// The server may know a moment before this clock that the time is over.
	_, late := errors.AsType[*client.WorkflowUpdateServiceTimeoutOrCanceledError](err)
	if err != nil && (late || call.Err() != nil) && ctx.Err() == nil {
		return state, fmt.Errorf("%s: %w", d.id(), errNoAnswer)
	}
	return state, err
}

func (r *deadRun) take(d deadLetter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.accepted = append(r.accepted, d)
}

// skippedAs is what a refusal is to a filter, which would have left the letter
// alone had it known.
var skippedAs = map[string]string{
	contract.RefusedReplaying: skipReplaying, contract.RefusedClosed: skipEnded, contract.RefusedUncertain: skipUncertain,
	contract.RefusedExpired: skipTooLate, contract.RefusedEmpty: skipTooLarge,
}

// refuse notes a refusal and returns its kind.
func (r *deadRun) refuse(ctx context.Context, d deadLetter, err error) string {
	kind, why := r.refusal(ctx, d, err)
	r.mu.Lock()
	defer r.mu.Unlock()
	if as := skippedAs[kind]; as != "" && !r.targets.named() {
		r.skipped[as]++
		return kind
	}
	r.refused = append(r.refused, deadRefusal{ID: d.id(), Why: why})
	return kind
}
