package cli

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

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

// updateSearch finds the newest updates of a bot.
type updateSearch struct {
	*frontend
	filter updateFilter
	query  string
	order  string // the ordering key in the memo, "" to look at none
}

// search makes the query. Without our search attributes a chat's updates are
// told by their memo, and a kind by nothing.
func (s *frontend) search(ctx context.Context, bot int64, f updateFilter) (updateSearch, error) {
	u := updateSearch{frontend: s, filter: f, query: ofBot(bot)}
	if f.chat == "" && f.kind == "" {
		return u, nil
	}
	missing, _, err := s.attributes(ctx)
	if err != nil {
		return u, fmt.Errorf("look up search attributes: %w", err)
	}
	switch {
	case f.kind != "" && slices.Contains(missing, contract.AttributeKind):
		return u, fmt.Errorf("--kind: the search attribute %s is not registered: run `durabot setup`", contract.AttributeKind)
	case f.kind != "":
		u.query += fmt.Sprintf(" AND %s = '%s'", contract.AttributeKind, f.kind)
	}
	switch {
	case f.chat != "" && slices.Contains(missing, contract.AttributeChat):
		u.order = "chat/" + f.chat
	case f.chat != "":
		u.query += fmt.Sprintf(" AND %s = '%s'", contract.AttributeChat, f.chat)
	}
	return u, nil
}

// newest looks at the open and at the closed ones by themselves, as the server
// lists the open ones first, and the closed ones by when they were closed.
func (u updateSearch) newest(ctx context.Context) ([]updateRow, error) {
	rows := []updateRow{}
	var err error
	if status := u.filter.status.value; status == "" || status == "running" {
		enough := func([]updateRow, time.Time) bool { return len(rows) >= u.filter.limit }
		if err = u.collect(ctx, "ExecutionStatus = 'Running'", &rows, enough); err != nil {
			return nil, err
		}
	}
	closed := "ExecutionStatus != 'Running'"
	switch u.filter.status.value {
	case "running":
		return rows, nil
	case "completed":
		closed = "ExecutionStatus = 'Completed'"
	case "failed":
		closed = "ExecutionStatus = 'Failed'"
	}
	if err = u.collect(ctx, closed, &rows, u.settled); err != nil {
		return nil, err
	}
	newestFirst(rows)
	return rows[:min(len(rows), u.filter.limit)], nil
}

// settled reports whether an update closed at this time, or before, came too
// early to be among the newest: it came before it was closed.
func (u updateSearch) settled(rows []updateRow, closed time.Time) bool {
	newestFirst(rows)
	limit := u.filter.limit
	return len(rows) >= limit && closed.Before(rows[limit-1].ReceivedAt)
}

// collect appends what a query finds until enough says so of the rows and the
// time when the next one was closed.
func (u updateSearch) collect(ctx context.Context, status string, rows *[]updateRow, enough func([]updateRow, time.Time) bool) error {
	err := u.each(ctx, u.query+" AND "+status, func(info *workflowpb.WorkflowExecutionInfo) bool {
		if enough(*rows, info.GetCloseTime().AsTime()) {
			return false
		}
		if u.order == "" || memo(info, contract.MemoOrder) == u.order {
			*rows = append(*rows, row(info))
		}
		return true
	})
	if err != nil {
		return fmt.Errorf("list updates: %w", err)
	}
	return nil
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
	if info.GetCloseTime() != nil {
		r.ClosedAt, r.Outcome = info.GetCloseTime().AsTime(), ""
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
	return text(info.GetMemo().GetFields()[key])
}

func keyword(info *workflowpb.WorkflowExecutionInfo, name string) string {
	return text(info.GetSearchAttributes().GetIndexedFields()[name])
}

// text is "" for what is absent or no string.
func text(p *commonpb.Payload) string {
	var s string
	if p == nil || converter.GetDefaultDataConverter().FromPayload(p, &s) != nil {
		return ""
	}
	return s
}
