package cli_test

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/durabot/durabot/internal/contract"
)

// morgue is a server with the dead letters of bot 7. It does of an update what
// their workflows would do, and a replay delivers at once.
type morgue struct {
	*office

	mu        sync.Mutex
	letters   map[string]*contract.DeadState // by workflow ID
	replays   []asked
	discards  map[string]contract.Discard // by workflow ID
	seen      map[string]bool             // updates, by letter and id
	looks     map[string]int              // how often a letter was looked at
	slow      map[string]int              // how often a replay is looked at before it ends
	lag       map[string]int              // how often a letter shows what it was before
	stubborn  map[string]bool             // dies again
	faster    map[string]string           // what a letter refuses, which does not show yet
	deaf      bool                        // no process runs the workflows
	gone      bool                        // the server goes away when it is told something
	histories map[string][]*historypb.HistoryEvent
}

// asked is a replay that was accepted.
type asked struct {
	contract.Replay

	letter string
}

func newMorgue(letters ...contract.DeadState) *morgue {
	m := &morgue{
		office: newOffice(), letters: map[string]*contract.DeadState{}, discards: map[string]contract.Discard{}, seen: map[string]bool{},
		looks: map[string]int{}, slow: map[string]int{}, lag: map[string]int{}, stubborn: map[string]bool{}, histories: map[string][]*historypb.HistoryEvent{},
	}
	for _, l := range letters {
		m.letters[contract.DeadID(7, l.ID())] = &l
	}
	return m
}

// died is when the fake letters died, and accepted when the first was accepted.
var died, accepted = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), time.Date(2026, 3, 4, 5, 0, 0, 0, time.UTC)

// letter is a message that died, accepted so many seconds after the first.
func letter(key, chat string, second int, reason contract.Reason) contract.DeadState {
	return contract.DeadState{
		State: contract.DeadOpen, Kind: contract.DeadMessage, Key: key, Reason: reason, Error: "Bad Request: BUTTON_DATA_INVALID", Attempts: 1,
		ChatID: chat, Method: "sendMessage", AcceptedAt: accepted.Add(time.Duration(second) * time.Second), At: died, Left: 1,
	}
}

func (m *morgue) info(id string) *workflowpb.WorkflowExecutionInfo {
	state := m.letters[id]
	info := &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: id, RunId: "run"}, Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, Memo: memoOf(state),
	}
	if state.State != contract.DeadOpen {
		info.Status = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	}
	return info
}

// DescribeWorkflowExecution knows the letters as well. A replay goes on when it
// is looked at.
func (m *morgue) DescribeWorkflowExecution(ctx context.Context, in *workflowservice.DescribeWorkflowExecutionRequest) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := in.GetExecution().GetWorkflowId()
	if _, ok := m.letters[id]; !ok {
		return m.office.DescribeWorkflowExecution(ctx, in)
	}
	m.looks[id]++
	if m.lag[id]--; m.lag[id] >= 0 {
		before := *m.letters[id]
		before.Replaying, before.Actions = false, nil
		res := &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: m.info(id)}
		res.WorkflowExecutionInfo.Memo = memoOf(before)
		return res, nil
	}
	m.goOn(id)
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: m.info(id)}, nil
}

// looked is how often a letter was looked at.
func (m *morgue) looked(id string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.looks[id]
}

func (m *morgue) goOn(id string) {
	state := m.letters[id]
	m.slow[id]--
	if !state.Replaying || m.slow[id] >= 0 {
		return
	}
	state.Replaying = false
	if m.stubborn[id] {
		state.Error = "Bad Request: again"
		return
	}
	state.State, state.Left, state.Delivered = contract.DeadReplayed, 0, state.Delivered+1
}

// ListWorkflowExecutions lists the letters, the newest first, two a page; and the chats.
func (m *morgue) ListWorkflowExecutions(ctx context.Context, in *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	query, ok := strings.CutPrefix(in.GetQuery(), "WorkflowType = 'DeadLetterWorkflow' AND TaskQueue = 'durabot-7'")
	if !ok {
		return m.office.ListWorkflowExecutions(ctx, in)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []*workflowpb.WorkflowExecutionInfo
	for _, id := range slices.Sorted(maps.Keys(m.letters)) {
		if query == "" || m.letters[id].State == contract.DeadOpen {
			all = append(all, m.info(id))
		}
	}
	slices.SortStableFunc(all, func(a, b *workflowpb.WorkflowExecutionInfo) int {
		return m.letters[b.Execution.WorkflowId].AcceptedAt.Compare(m.letters[a.Execution.WorkflowId].AcceptedAt)
	})
	from, _ := strconv.Atoi(string(in.GetNextPageToken()))
	res := &workflowservice.ListWorkflowExecutionsResponse{Executions: all[from:min(from+2, len(all))]}
	if from+2 < len(all) {
		res.NextPageToken = []byte(strconv.Itoa(from + 2))
	}
	return res, nil
}

// GetWorkflowExecutionHistory returns what a test has put there.
func (m *morgue) GetWorkflowExecutionHistory(_ context.Context, in *workflowservice.GetWorkflowExecutionHistoryRequest) (*workflowservice.GetWorkflowExecutionHistoryResponse, error) {
	return &workflowservice.GetWorkflowExecutionHistoryResponse{
		History: &historypb.History{Events: m.histories[in.GetExecution().GetWorkflowId()]},
	}, nil
}

// of are the replays of a chat's letters, in the order in which they came.
func (m *morgue) of(ids ...string) []string {
	var order []string
	for _, r := range m.replays {
		if slices.Contains(ids, r.letter) {
			order = append(order, r.letter)
		}
	}
	return order
}

// began is a letter's first event.
func began(t *testing.T, in contract.DeadInput, raw string) *historypb.HistoryEvent {
	t.Helper()
	return &historypb.HistoryEvent{
		EventTime: timestamppb.New(died),
		Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{
				Input: &commonpb.Payloads{Payloads: []*commonpb.Payload{encoded(in), {Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte(raw)}}},
			},
		},
	}
}
