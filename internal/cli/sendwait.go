package cli

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/durabot/durabot/internal/contract"
)

// waited follows a message until it has ended, also one that waits for its time
// or for another. An interrupt ends the wait and not the message.
func (p Program) waited(ctx context.Context, s *frontend, told message) (message, error) {
	for ctx.Err() == nil {
		if err := p.awaitEnd(ctx, s, told); err != nil {
			return told, fmt.Errorf("%s is accepted, but nobody says how it ends: %w", told.WorkflowID, err)
		}
		if ctx.Err() != nil {
			break
		}
		var err error
		if told, err = s.read(ctx, told); err != nil {
			return told, err
		}
		if !told.ClosedAt.IsZero() { // else it went on in another run
			return told, told.undelivered()
		}
	}
	return told, fmt.Errorf("no longer waiting: %s is accepted and goes on", told.WorkflowID)
}

// undelivered is the error of a message that has ended otherwise, with what a
// person can do about it.
func (m message) undelivered() error {
	switch {
	case m.Outcome == contract.Delivered:
		return nil
	case m.DeadLetter != "":
		return fmt.Errorf("%s was not delivered: %s: see `durabot dead show %s`", m.WorkflowID, callState(m.Call), m.DeadLetter)
	default:
		return fmt.Errorf("%s was not delivered: %s", m.WorkflowID, callState(m.Call))
	}
}

// awaitEnd returns when the message's workflow is closed, or ctx ends. A
// Temporal that is away is waited for: the SDK asks again for a minute, and then
// it is said.
func (p Program) awaitEnd(ctx context.Context, s *frontend, told message) error {
	for ctx.Err() == nil {
		events := s.GetWorkflowHistory(ctx, told.WorkflowID, "", true, enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT)
		events.HasNext()
		_, err := events.Next()
		if _, gone := errors.AsType[*serviceerror.NotFound](err); gone || err == nil {
			return err
		}
		if refusal := refused(err, s.options); refusal != nil {
			return refusal
		}
		pause(ctx, temporalRetry)
		if ctx.Err() == nil {
			fmt.Fprintf(p.Stderr, "durabot: no answer from Temporal at %s: still waiting for %s\n", s.options.HostPort, told.WorkflowID)
		}
	}
	return nil
}

// read brings what is told of a message up to date.
func (s *frontend) read(ctx context.Context, told message) (message, error) {
	source, err := s.source(ctx, told.WorkflowID)
	if err != nil {
		return told, fmt.Errorf("read %s: %w", told.WorkflowID, err)
	}
	return told.follow(source), nil
}
