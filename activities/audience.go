package activities

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/durabot/durabot/internal/contract"
)

// Histories is the part of a Temporal client that reads what a workflow was
// started with.
type Histories interface {
	GetWorkflowHistory(ctx context.Context, workflowID, runID string, isLongPoll bool, filter enumspb.HistoryEventFilterType) client.HistoryEventIterator
}

// groupsOf reads which groups and channels are recipients of a broadcast, from its
// parts: only into one of these can a chat have moved.
func (b *batch) groupsOf(ctx context.Context) (map[int64]struct{}, error) {
	id := b.info.WorkflowExecution.ID
	broadcast := id[:strings.LastIndex(id, "/")+1]
	groups := map[int64]struct{}{}
	note := func(text string) {
		if chat, err := strconv.ParseInt(text, 10, 64); err == nil && chat < 0 {
			groups[chat] = struct{}{}
		}
	}
	for n := range b.in.Parts {
		part, err := readPart(ctx, b.Histories, broadcast+strconv.Itoa(n+1))
		if err != nil {
			return nil, err
		}
		for _, a := range part.Recipients {
			note(a.Chat)
		}
		for _, r := range part.Results {
			note(r.Chat)
		}
	}
	return groups, nil
}

// readPart reads what the newest run of a part began with.
func readPart(ctx context.Context, h Histories, id string) (in contract.PartInput, err error) {
	input, err := firstInput(ctx, h, id)
	if err != nil {
		return in, err
	}
	if err := converter.GetDefaultDataConverter().FromPayload(input, &in); err != nil {
		return in, fmt.Errorf("read the recipients of %s: %w", id, err)
	}
	return in, nil
}

// firstInput is the first argument with which the newest run of a workflow began,
// nil where its history is empty.
func firstInput(ctx context.Context, h Histories, id string) (*commonpb.Payload, error) {
	events := h.GetWorkflowHistory(ctx, id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	if !events.HasNext() {
		return nil, nil
	}
	first, err := events.Next()
	if err != nil {
		return nil, fmt.Errorf("read what %s began with: %w", id, err)
	}
	input := first.GetWorkflowExecutionStartedEventAttributes().GetInput().GetPayloads()
	if len(input) == 0 {
		return nil, nil
	}
	return input[0], nil
}
