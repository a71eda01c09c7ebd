package activities

import (
	"context"
	"fmt"
	"strconv"
	"strings"

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
	for n := range b.in.Parts {
		part, err := readPart(ctx, b.Histories, broadcast+strconv.Itoa(n+1))
		if err != nil {
			return nil, err
		}
		for _, a := range part.Recipients {
			if chat, err := strconv.ParseInt(a.Chat, 10, 64); err == nil && chat < 0 {
				groups[chat] = struct{}{}
			}
		}
		for _, r := range part.Results {
			if chat, err := strconv.ParseInt(r.Chat, 10, 64); err == nil && chat < 0 {
				groups[chat] = struct{}{}
			}
		}
	}
	return groups, nil
}

// readPart reads what the newest run of a part began with.
func readPart(ctx context.Context, h Histories, id string) (contract.PartInput, error) {
	var in contract.PartInput
	events := h.GetWorkflowHistory(ctx, id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	if !events.HasNext() {
		return in, fmt.Errorf("read %s: it has no history", id)
	}
	first, err := events.Next()
	if err != nil {
		return in, fmt.Errorf("read %s: %w", id, err)
	}
	input := first.GetWorkflowExecutionStartedEventAttributes().GetInput()
	if err := converter.GetDefaultDataConverter().FromPayloads(input, &in); err != nil {
		return in, fmt.Errorf("read the recipients of %s: %w", id, err)
	}
	return in, nil
}
