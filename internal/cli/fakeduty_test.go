package cli_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/durabot/durabot/internal/contract"
)

// office is a server with a bot's duty and its chats. It does of a signal what
// their workflows would do.
type office struct {
	fakeTemporal

	mu      sync.Mutex
	closed  bool // there is no duty workflow
	holder  string
	since   time.Time
	beat    *contract.Beat // nil before the first
	pause   *contract.Pause
	deaf    bool                          // the holder does not hear of a pause
	chats   map[string]contract.ChatState // by workflow ID
	tasks   map[string]int32              // open workflows, with the attempt at their task
	pollers []string
	cleared []contract.ChatClear
	paused  []contract.Pause
	counts  []counted
	away    bool          // no count is answered
	waits   time.Duration // of what has waited longest
}

// counted answers queries that have all of these in them; the first one counts.
type counted struct {
	has []string
	n   int64
}

func newOffice() *office {
	return &office{
		fakeTemporal: fakeTemporal{retention: 168 * time.Hour, attributes: registered()},
		since:        time.Now().Add(-time.Hour), chats: map[string]contract.ChatState{},
	}
}

// onDuty is an office with a holder that has reported.
func onDuty(f contract.Figures) *office {
	o := newOffice()
	o.holder = "12433@bot-1@"
	o.beat = &contract.Beat{Since: o.since, Address: "127.0.0.1:8080", Figures: f}
	return o
}

func encoded(v any) *commonpb.Payload {
	p, err := converter.GetDefaultDataConverter().ToPayload(v)
	if err != nil {
		panic(err)
	}
	return p
}

func memoOf(state any) *commonpb.Memo {
	return &commonpb.Memo{Fields: map[string]*commonpb.Payload{contract.MemoState: encoded(state)}}
}

// DescribeWorkflowExecution knows the duty and the chats.
func (o *office) DescribeWorkflowExecution(_ context.Context, in *workflowservice.DescribeWorkflowExecutionRequest) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	id := in.GetExecution().GetWorkflowId()
	if state, ok := o.chats[id]; ok {
		return described(id, memoOf(state)), nil
	}
	if attempt, ok := o.tasks[id]; ok {
		res := described(id, nil)
		res.PendingWorkflowTask = &workflowpb.PendingWorkflowTaskInfo{Attempt: attempt}
		return res, nil
	}
	if o.closed || !strings.HasPrefix(id, "duty/") {
		return nil, status.Error(codes.NotFound, "workflow not found")
	}
	res := described(id, memoOf(contract.DutyState{Pause: o.pause}))
	res.PendingActivities = []*workflowpb.PendingActivityInfo{o.term()}
	return res, nil
}

func described(id string, memo *commonpb.Memo) *workflowservice.DescribeWorkflowExecutionResponse {
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: id, RunId: "run"}, Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, Memo: memo,
	}}
}

func (o *office) term() *workflowpb.PendingActivityInfo {
	term := &workflowpb.PendingActivityInfo{
		ActivityType: &commonpb.ActivityType{Name: contract.HoldDutyActivity}, State: enumspb.PENDING_ACTIVITY_STATE_SCHEDULED,
		ScheduledTime: timestamppb.New(o.since),
	}
	if o.holder == "" {
		return term
	}
	term.State, term.LastWorkerIdentity, term.LastStartedTime = enumspb.PENDING_ACTIVITY_STATE_STARTED, o.holder, timestamppb.New(o.since)
	if o.beat != nil {
		term.LastHeartbeatTime = timestamppb.New(o.since.Add(time.Second))
		term.HeartbeatDetails = &commonpb.Payloads{Payloads: []*commonpb.Payload{encoded(o.beat)}}
	}
	return term
}

// DescribeTaskQueue names who runs the bot's workflows.
func (o *office) DescribeTaskQueue(context.Context, *workflowservice.DescribeTaskQueueRequest) (*workflowservice.DescribeTaskQueueResponse, error) {
	res := &workflowservice.DescribeTaskQueueResponse{}
	for _, who := range o.pollers {
		res.Pollers = append(res.Pollers, &taskqueuepb.PollerInfo{Identity: who, LastAccessTime: timestamppb.Now()})
	}
	return res, nil
}

// SignalWorkflowExecution pauses, resumes and clears.
func (o *office) SignalWorkflowExecution(_ context.Context, in *workflowservice.SignalWorkflowExecutionRequest) (*workflowservice.SignalWorkflowExecutionResponse, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	id, payload := in.GetWorkflowExecution().GetWorkflowId(), in.GetInput().GetPayloads()[0]
	_, known := o.chats[id]
	switch {
	case in.GetSignalName() == contract.ChatClearSignal && known:
		var taken contract.ChatClear
		_ = converter.GetDefaultDataConverter().FromPayload(payload, &taken)
		o.cleared = append(o.cleared, taken)
	case strings.HasPrefix(id, "duty/") && !o.closed:
		var pause contract.Pause
		_ = converter.GetDefaultDataConverter().FromPayload(payload, &pause)
		o.hear(in.GetSignalName(), pause)
	default:
		return nil, status.Error(codes.NotFound, "workflow not found")
	}
	return &workflowservice.SignalWorkflowExecutionResponse{}, nil
}

func (o *office) hear(signal string, pause contract.Pause) {
	o.paused = append(o.paused, pause)
	held := []string{}
	o.pause = nil
	if signal == contract.PauseSignal {
		o.pause, held = &pause, []string{"paused"}
	}
	if o.beat != nil && !o.deaf {
		o.beat.Figures.Limiter.Held = held
	}
}

// CountWorkflowExecutions answers what a test has put there, else nothing.
func (o *office) CountWorkflowExecutions(_ context.Context, in *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.away {
		return nil, status.Error(codes.Unavailable, "away")
	}
	for _, c := range o.counts {
		if !slices.ContainsFunc(c.has, func(part string) bool { return !strings.Contains(in.GetQuery(), part) }) {
			return &workflowservice.CountWorkflowExecutionsResponse{Count: c.n}, nil
		}
	}
	return &workflowservice.CountWorkflowExecutionsResponse{}, nil
}

// ListWorkflowExecutions lists the chats, one a page.
func (o *office) ListWorkflowExecutions(_ context.Context, in *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	res := &workflowservice.ListWorkflowExecutionsResponse{}
	if strings.Contains(in.GetQuery(), "ExecutionTime <=") && o.waits > 0 {
		since := timestamppb.New(time.Now().Add(-o.waits))
		res.Executions = append(res.Executions, &workflowpb.WorkflowExecutionInfo{StartTime: since, ExecutionTime: since})
	}
	if in.GetQuery() == "TaskQueue = 'durabot-7' AND ExecutionStatus = 'Running'" {
		for _, id := range slices.Sorted(maps.Keys(o.tasks)) {
			res.Executions = append(res.Executions, described(id, nil).GetWorkflowExecutionInfo())
		}
		return res, nil
	}
	if !strings.HasPrefix(in.GetQuery(), "WorkflowType = 'ChatWorkflow' AND TaskQueue = 'durabot-7' AND ") {
		return res, nil
	}
	for _, id := range slices.Sorted(maps.Keys(o.chats)) {
		if id <= string(in.GetNextPageToken()) {
			continue
		}
		res.Executions = append(res.Executions, described(id, memoOf(o.chats[id])).GetWorkflowExecutionInfo())
		res.NextPageToken = []byte(id)
		break
	}
	return res, nil
}
