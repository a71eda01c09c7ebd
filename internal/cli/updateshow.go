package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/durabot/durabot/internal/cli/story"
)

// shown is the answer of `update show`.
type shown struct {
	story.Story
	// UI is the update's page in the Temporal UI, "" when nobody knows its address.
	UI string `json:"ui_url,omitempty"`
	// Payload is the update as it came, only when it was asked for.
	Payload json.RawMessage `json:"payload,omitempty"`
}

func (p Program) updateShowCommand(g *global) *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use: "show UPDATE_ID|WORKFLOW_ID", Short: "Tell one update's story: received, waited for, handled, each call",
		Args: oneArg("an update_id or a workflow ID"),
	}
	f.register(cmd.Flags(), "show the update itself as well, with what people wrote")
	format := output(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		id, err := p.updateWorkflow(g, args[0])
		if err != nil {
			return err
		}
		return p.connected(cmd.Context(), func(s *frontend) error {
			told, err := s.tell(cmd.Context(), id, f.payload)
			if err != nil {
				return err
			}
			told.UI = s.page(f.ui, id)
			return p.answer(format, told, func(w io.Writer) error { return writeStory(w, told) })
		})
	}
	return cmd
}

// tell reads an update's history, and those of the calls that went on alone.
func (s *frontend) tell(ctx context.Context, id string, payload bool) (shown, error) {
	source, err := s.source(ctx, id)
	var none *serviceerror.NotFound
	if errors.As(err, &none) {
		return shown{}, fmt.Errorf("no update %s in namespace %s: see `durabot update list`; closed ones are kept for the namespace's retention", id, s.options.Namespace)
	}
	if err != nil {
		return shown{}, fmt.Errorf("read %s: %w", id, err)
	}
	told, err := story.Of(source)
	if err != nil {
		return shown{}, err
	}
	for i, c := range told.Calls {
		if c.WorkflowID == "" {
			continue
		}
		message, err := s.source(ctx, c.WorkflowID)
		if errors.As(err, &none) {
			continue // forgotten before its update: the call stays pending
		}
		if err != nil {
			return shown{}, fmt.Errorf("read %s: %w", c.WorkflowID, err)
		}
		told.Calls[i] = c.Follow(message)
	}
	res := shown{Story: told}
	if payload {
		res.Payload = story.Payload(source)
	}
	return res, nil
}

// source reads a workflow's history, and its pending activities while it is open.
func (s *frontend) source(ctx context.Context, id string) (story.Source, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*temporalCall)
	defer cancel()
	described, err := s.inspect(ctx, id)
	if err != nil {
		return story.Source{}, err
	}
	run := described.GetWorkflowExecutionInfo().GetExecution().GetRunId()
	source, err := s.events(ctx, id, run, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	source.Pending = described.GetPendingActivities()
	return source, err
}

// ending reads the last event of a closed workflow.
func (s *frontend) ending(ctx context.Context, id, run string) (story.Source, error) {
	ctx, cancel := context.WithTimeout(ctx, temporalCall)
	defer cancel()
	return s.events(ctx, id, run, enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT)
}

func (s *frontend) events(ctx context.Context, id, run string, filter enumspb.HistoryEventFilterType) (story.Source, error) {
	var source story.Source
	for iter := s.GetWorkflowHistory(ctx, id, run, false, filter); iter.HasNext(); {
		e, err := iter.Next()
		if err != nil {
			return source, err
		}
		source.Events = append(source.Events, e)
	}
	return source, nil
}
