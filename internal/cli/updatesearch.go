package cli

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/converter"

	"github.com/durabot/durabot/internal/contract"
)

// Both are written into queries, so nothing else may pass.
var (
	chatID   = regexp.MustCompile(`^-?[0-9]{1,19}$`)
	kindName = regexp.MustCompile(`^[a-z_]{1,64}$`)
)

// search makes the query for the newest updates of a bot. Without our search
// attributes a chat's updates are told by their memo, and a kind by nothing.
func (s *frontend) search(ctx context.Context, bot int64, f updateFilter) (newest, error) {
	n := newest{frontend: s, query: ofBot(bot), limit: f.limit}
	n.open, n.closed = f.conditions()
	if f.chat == "" && f.kind == "" {
		return n, nil
	}
	missing, _, err := s.attributes(ctx)
	if err != nil {
		return n, fmt.Errorf("look up search attributes: %w", err)
	}
	switch {
	case f.kind != "" && slices.Contains(missing, contract.AttributeKind):
		return n, unregistered("kind", contract.AttributeKind)
	case f.kind != "":
		n.query += fmt.Sprintf(" AND %s = '%s'", contract.AttributeKind, f.kind)
	}
	switch {
	case f.chat != "" && slices.Contains(missing, contract.AttributeChat):
		n.keep = func(info *workflowpb.WorkflowExecutionInfo) bool {
			return memo(info, contract.MemoOrder) == "chat/"+f.chat
		}
	case f.chat != "":
		n.query += fmt.Sprintf(" AND %s = '%s'", contract.AttributeChat, f.chat)
	}
	return n, nil
}

// unregistered is the error of a filter that needs a search attribute.
func unregistered(flag, attribute string) error {
	return fmt.Errorf("--%s: the search attribute %s is not registered: run `durabot setup`", flag, attribute)
}

// conditions are those for open and for closed updates, "" for none of them.
func (f updateFilter) conditions() (open, closed string) {
	switch f.status.value {
	case "running":
		return anyOpen, ""
	case "completed":
		return "", "ExecutionStatus = 'Completed'"
	case "failed":
		return "", "ExecutionStatus = 'Failed'"
	default:
		return anyOpen, anyClosed
	}
}

// row is what the list of executions says of an update.
func row(info *workflowpb.WorkflowExecutionInfo) updateRow {
	r := updateRow{
		WorkflowID: info.GetExecution().GetWorkflowId(), runID: info.GetExecution().GetRunId(),
		Kind: keyword(info, contract.AttributeKind), ChatID: keyword(info, contract.AttributeChat),
		Status: status(info.GetStatus()), ReceivedAt: info.GetStartTime().AsTime(), Outcome: contract.Pending,
	}
	if update, ok := contract.UpdateOf(r.WorkflowID); ok {
		r.UpdateID = strconv.FormatInt(update, 10)
	}
	if chat, ok := strings.CutPrefix(memo(info, contract.MemoOrder), "chat/"); ok && r.ChatID == "" {
		r.ChatID = chat
	}
	if !isOpen(info) {
		r.ClosedAt, r.Outcome = info.GetCloseTime().AsTime(), ""
	} else if keyword(info, contract.AttributeOutcome) == contract.OutcomeHandled {
		r.State = "sending"
	}
	return r
}

// status is a workflow's in the words of this command line.
func status(s enumspb.WorkflowExecutionStatus) string {
	switch s {
	case enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED:
		return "cancelled"
	case enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:
		return "timed_out"
	default:
		return strings.ToLower(s.String())
	}
}

func memo(info *workflowpb.WorkflowExecutionInfo, key string) string {
	return decoded(info.GetMemo().GetFields()[key])
}

func keyword(info *workflowpb.WorkflowExecutionInfo, name string) string {
	return decoded(info.GetSearchAttributes().GetIndexedFields()[name])
}

// decoded is "" for what is absent or no string.
func decoded(p *commonpb.Payload) string {
	var s string
	if p == nil || converter.GetDefaultDataConverter().FromPayload(p, &s) != nil {
		return ""
	}
	return s
}
