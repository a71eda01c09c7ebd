package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"

	"github.com/durabot/durabot/internal/contract"
)

// deadPayload is what a dead letter holds, with what people wrote.
type deadPayload struct {
	// Calls are what was to be sent when it died, the one that died first.
	Calls []contract.Call `json:"calls,omitempty"`
	// Update is to be handled again, byte for byte as Telegram sent it.
	Update json.RawMessage `json:"update,omitempty"`
	// Edits are the changes that replays made to the first call, the latest last.
	Edits []deadEdit `json:"edits,omitempty"`
}

// deadEdit is one change.
type deadEdit struct {
	By   string          `json:"by"`
	At   time.Time       `json:"at"`
	Edit json.RawMessage `json:"edit"`
}

// deadPayload reads it from the dead letter's history.
func (s *frontend) deadPayload(ctx context.Context, d deadLetter) (*deadPayload, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*temporalCall)
	defer cancel()
	source, err := s.events(ctx, d.workflowID, d.runID, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", d.workflowID, err)
	}
	found := &deadPayload{}
	for _, event := range source.Events {
		found.add(event)
	}
	return found, nil
}

// add takes in what the workflow began with, and the edits of the replays that it
// accepted.
func (p *deadPayload) add(event *historypb.HistoryEvent) {
	if began := event.GetWorkflowExecutionStartedEventAttributes(); began != nil {
		p.begin(began.GetInput().GetPayloads())
	}
	asked := event.GetWorkflowExecutionUpdateAcceptedEventAttributes().GetAcceptedRequest().GetInput()
	args := asked.GetArgs().GetPayloads()
	if asked.GetName() != contract.ReplayUpdate || len(args) == 0 {
		return
	}
	var replay contract.Replay
	if converter.GetDefaultDataConverter().FromPayload(args[0], &replay) == nil && len(replay.Edit) > 0 {
		p.Edits = append(p.Edits, deadEdit{By: replay.By, At: event.GetEventTime().AsTime(), Edit: replay.Edit})
	}
}

func (p *deadPayload) begin(input []*commonpb.Payload) {
	var in contract.DeadInput
	if len(input) == 0 || converter.GetDefaultDataConverter().FromPayload(input[0], &in) != nil {
		return
	}
	p.Calls = in.Calls
	if in.Update != nil && len(input) > 1 && json.Valid(input[1].GetData()) {
		p.Update = input[1].GetData()
	}
}
