package workflows

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// refused is the error with which a letter refuses an action; its type is one of
// contract.Refused….
func refused(kind, why string) error { return temporal.NewNonRetryableApplicationError(why, kind, nil) }

// mayReplay refuses a replay that cannot be or that was not thought over.
func (l *letter) mayReplay(ctx workflow.Context, r contract.Replay) error {
	if err := l.mayAct(); err != nil {
		return err
	}
	switch tooLate := l.state.Deadline; {
	case l.state.Reason == contract.ReasonTooLarge:
		return refused(contract.RefusedEmpty, "the update was too large to be kept: there is nothing to handle again")
	case strings.HasPrefix(l.in.Key, contract.PostPrefix) && l.in.Kind == contract.DeadUpdate:
		return refused(contract.RefusedEmpty, "a post without an update_id is no update that could be handled")
	case l.uncertain() && !r.AllowDuplicate:
		return refused(contract.RefusedUncertain, "it may have arrived already: a replay has to allow a duplicate")
	case r.TTL <= 0 && !tooLate.IsZero() && !workflow.Now(ctx).Before(tooLate):
		return refused(contract.RefusedExpired, "it was to arrive by "+tooLate.Format(time.RFC3339)+": a replay has to give it a new TTL")
	case len(r.Edit) > 0:
		return l.mayEdit(r.Edit)
	}
	return nil
}

// mayDiscard refuses to give up what is closed or on its way.
func (l *letter) mayDiscard(workflow.Context, contract.Discard) error { return l.mayAct() }

// mayAct refuses every action on a letter that is closed or on its way.
func (l *letter) mayAct() error {
	switch {
	case l.state.State == contract.DeadExpired:
		return refused(contract.RefusedClosed, "it has expired: nobody acted on it for 30 days")
	case l.state.State != contract.DeadOpen:
		last := l.state.Actions[len(l.state.Actions)-1]
		return refused(contract.RefusedClosed, "already "+string(l.state.State)+" by "+last.By+" at "+last.At.Format(time.RFC3339))
	case l.state.Replaying:
		last := l.state.Actions[len(l.state.Actions)-1]
		return refused(contract.RefusedReplaying, "a replay by "+last.By+" is under way since "+last.At.Format(time.RFC3339))
	}
	return nil
}

// uncertain reports whether some of its calls may have arrived.
func (l *letter) uncertain() bool {
	for _, o := range l.left {
		if o.uncertain {
			return true
		}
	}
	return false
}

func (l *letter) mayEdit(patch json.RawMessage) error {
	if l.in.Update != nil || len(l.left) == 0 {
		return refused(contract.RefusedEdit, "the update is to be handled again: there is no call yet whose parameters could be changed")
	}
	if _, err := edited(l.left[0].call, patch); err != nil {
		return refused(contract.RefusedEdit, "the change cannot be made: "+err.Error())
	}
	return nil
}

// edited is the call after a JSON merge patch on its parameters. Keys are sorted,
// numbers stay as they were written. Its errors quote no parameter.
//
// What is flagged here is JSON, which is free of clock and chance.
//
//workflowcheck:ignore
func edited(call contract.Call, patch json.RawMessage) (contract.Call, error) {
	var object map[string]json.RawMessage
	if json.Unmarshal(patch, &object) != nil || object == nil {
		return call, errors.New("it is no JSON object")
	}
	params, err := call.Object()
	if err != nil {
		return call, err
	}
	merged, err := jsonpatch.MergePatch(params, patch)
	if err != nil {
		return call, errors.New("it does not fit the parameters")
	}
	dec := json.NewDecoder(bytes.NewReader(merged))
	dec.UseNumber()
	var sorted map[string]any // the order in which a patch is merged is chance
	if err := dec.Decode(&sorted); err != nil {
		return call, errors.New("it makes no JSON object of the parameters")
	}
	call.Params = sorted
	return call.Seal()
}
