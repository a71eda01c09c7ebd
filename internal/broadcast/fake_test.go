package broadcast_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/durabot/durabot/internal/contract"
)

const (
	bot  = 7
	name = "may"
)

var began = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func payloads(v any) *commonpb.Payloads {
	return must(converter.GetDefaultDataConverter().ToPayloads(v))
}

// run is one workflow with its newest run.
type run struct {
	kind     string
	state    any // in its memo
	status   enumspb.WorkflowExecutionStatus
	closed   time.Time
	batches  []*workflowpb.PendingActivityInfo
	input    any // of the newest run
	firstRun any // the input of the first run, nil when that is the newest
	result   any
	answer   *contract.PartResult // to a query, nil when nobody answers
	orders   []contract.BroadcastOrder
}

// server is a Temporal with these workflows, by ID.
type server struct {
	mu    sync.Mutex
	runs  map[string]*run
	order []string // of a list
	hangs bool     // nobody answers a query, and Temporal waits for it
	err   error    // of every request
	asked int      // queries
	read  int      // histories
	pages int
	// requests are those that look, and meanwhile is what happens after each.
	requests  int
	meanwhile func()
}

func newServer() *server {
	return &server{runs: map[string]*run{}, pages: 1000, meanwhile: func() {}}
}

func (s *server) broadcast(state contract.BroadcastState) *run {
	r := &run{kind: contract.BroadcastWorkflow, state: state, status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING}
	s.add(contract.BroadcastID(bot, name), r)
	return r
}

// part adds part n with so many recipients.
func (s *server) part(n, recipients int) *run {
	in := contract.PartInput{Part: n}
	for i := range recipients {
		in.Recipients = append(in.Recipients, contract.Addressee{Recipient: contract.Recipient{Chat: fmt.Sprintf("%d%03d", n, i)}})
	}
	r := &run{
		kind: contract.BroadcastPartWorkflow, status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
		input: in, state: contract.PartState{Total: recipients},
	}
	s.add(contract.PartID(bot, name, n), r)
	return r
}

func (s *server) add(id string, r *run) {
	s.runs[id] = r
	s.order = append(s.order, id)
}

// pending is a batch under way that has written this.
func pending(activity string, written any) *workflowpb.PendingActivityInfo {
	info := &workflowpb.PendingActivityInfo{ActivityType: &commonpb.ActivityType{Name: activity}}
	if written != nil {
		info.HeartbeatDetails = payloads(written)
	}
	return info
}

func (s *server) find(id string) (*run, error) {
	if s.err != nil {
		return nil, s.err
	}
	if r := s.runs[id]; r != nil {
		return r, nil
	}
	return nil, serviceerror.NewNotFound("workflow not found for ID: " + id)
}

func (s *server) info(id string) *workflowpb.WorkflowExecutionInfo {
	r := s.runs[id]
	return &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: id}, Status: r.status, CloseTime: timestamppb.New(r.closed),
		Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{contract.MemoState: payloads(r.state).GetPayloads()[0]}},
	}
}

func (s *server) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	defer s.meanwhile()
	r, err := s.find(id)
	if err != nil {
		return nil, err
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: s.info(id), PendingActivities: r.batches}, nil
}

// ListWorkflow lists by type, and by ID where the query names some, in pages.
func (s *server) ListWorkflow(_ context.Context, in *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	defer s.meanwhile()
	res := &workflowservice.ListWorkflowExecutionsResponse{}
	from := len(in.GetNextPageToken())
	for i, id := range s.order[from:] {
		if len(res.Executions) == s.pages {
			res.NextPageToken = []byte(strings.Repeat(".", from+i))
			break
		}
		if s.runs[id].listed(id, in.GetQuery()) {
			res.Executions = append(res.Executions, s.info(id))
		}
	}
	return res, s.err
}

func (r *run) listed(id, query string) bool {
	quoted := func(text string) bool { return strings.Contains(query, "'"+text+"'") }
	return quoted(r.kind) && (quoted(id) || !strings.Contains(query, "WorkflowId IN")) &&
		(r.status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING || !strings.Contains(query, "= 'Running'"))
}

func (s *server) SignalWorkflow(_ context.Context, id, _, signal string, arg any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.find(id)
	if err == nil && (r.status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING || signal != contract.OrderSignal) {
		err = serviceerror.NewNotFound("workflow execution already completed")
	}
	if err != nil {
		return err
	}
	order, _ := arg.(contract.BroadcastOrder)
	r.orders = append(r.orders, order)
	return nil
}

func (s *server) QueryWorkflow(ctx context.Context, id, _, _ string, _ ...any) (converter.EncodedValue, error) {
	s.mu.Lock()
	s.asked++
	r, err := s.find(id)
	hangs := s.hangs
	s.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case hangs:
		<-ctx.Done()
		return nil, ctx.Err()
	case r.answer == nil:
		return nil, errors.New("nobody polls")
	}
	return client.NewValue(payloads(r.answer)), nil
}

func (s *server) GetWorkflowHistory(_ context.Context, id, runID string, _ bool, filter enumspb.HistoryEventFilterType) client.HistoryEventIterator {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.find(id)
	if err != nil {
		return &iterator{err: err}
	}
	s.read++
	if filter == enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT {
		return &iterator{events: []*historypb.HistoryEvent{{Attributes: &historypb.HistoryEvent_WorkflowExecutionCompletedEventAttributes{
			WorkflowExecutionCompletedEventAttributes: &historypb.WorkflowExecutionCompletedEventAttributes{Result: payloads(r.result)},
		}}}}
	}
	started := &historypb.WorkflowExecutionStartedEventAttributes{Input: payloads(r.input), FirstExecutionRunId: "first"}
	switch {
	case runID == "first":
		started.Input = payloads(r.firstRun)
	case r.firstRun != nil:
		started.ContinuedExecutionRunId = "one between"
	}
	return &iterator{events: []*historypb.HistoryEvent{{Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
		WorkflowExecutionStartedEventAttributes: started,
	}}}}
}

// iterator has an event, or an error, which comes as the first event would.
type iterator struct {
	events []*historypb.HistoryEvent
	err    error
}

func (i *iterator) HasNext() bool { return len(i.events) > 0 || i.err != nil }

func (i *iterator) Next() (*historypb.HistoryEvent, error) {
	if i.err != nil {
		return nil, i.err
	}
	event := i.events[0]
	i.events = slices.Delete(i.events, 0, 1)
	return event, nil
}

func reached(n int) contract.Counts {
	return contract.Counts{Outcomes: map[string]int{"delivered": n}}
}

func results(chats ...string) []contract.RecipientResult {
	var all []contract.RecipientResult
	for _, chat := range chats {
		all = append(all, contract.RecipientResult{Chat: chat, Outcome: contract.Delivered, MessageID: "1", At: began})
	}
	return all
}
