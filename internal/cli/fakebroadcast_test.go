package cli_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/durabot/durabot/internal/contract"
)

// station is a server with the broadcasts of bot 7 and their parts. It does of an
// order what a broadcast's workflow would do.
type station struct {
	*office

	mu     sync.Mutex
	runs   map[string]*onAir // by workflow ID
	order  []string          // workflow IDs as they were started
	deaf   bool              // no process runs the workflows
	orders []contract.BroadcastOrder
	refuse int // so many starts from now on the server goes away; 0 never does
}

// onAir is one workflow.
type onAir struct {
	kind   string
	memo   *commonpb.Memo
	input  *commonpb.Payloads
	at     time.Time
	result *commonpb.Payload // of one that is closed
	shown  *contract.PartResult
}

func newStation() *station { return &station{office: newOffice(), runs: map[string]*onAir{}} }

// StartWorkflowExecution starts a workflow once.
func (s *station) StartWorkflowExecution(_ context.Context, in *workflowservice.StartWorkflowExecutionRequest) (*workflowservice.StartWorkflowExecutionResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := in.GetWorkflowId()
	if _, taken := s.runs[id]; taken {
		return nil, serviceerror.ToStatus(serviceerror.NewWorkflowExecutionAlreadyStarted("started", in.GetRequestId(), "run")).Err()
	}
	if s.refuse > 0 && len(s.order) >= s.refuse {
		return nil, status.Error(codes.InvalidArgument, "out of order")
	}
	s.runs[id] = &onAir{kind: in.GetWorkflowType().GetName(), memo: in.GetMemo(), input: in.GetInput(), at: time.Now()}
	s.order = append(s.order, id)
	return &workflowservice.StartWorkflowExecutionResponse{RunId: "run"}, nil
}

func (s *station) info(id string) *workflowpb.WorkflowExecutionInfo {
	run := s.runs[id]
	info := &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: id, RunId: "run"}, Type: &commonpb.WorkflowType{Name: run.kind},
		Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, Memo: run.memo, StartTime: timestamppb.New(run.at),
	}
	if run.result != nil {
		info.Status, info.CloseTime = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, timestamppb.New(run.at.Add(time.Minute))
	}
	return info
}

// DescribeWorkflowExecution knows the broadcasts beside what the office knows.
func (s *station) DescribeWorkflowExecution(ctx context.Context, in *workflowservice.DescribeWorkflowExecutionRequest) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.runs[in.GetExecution().GetWorkflowId()]; ok {
		return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: s.info(in.GetExecution().GetWorkflowId())}, nil
	}
	return s.office.DescribeWorkflowExecution(ctx, in)
}

// ListWorkflowExecutions lists the broadcasts, or their parts, the newest first.
func (s *station) ListWorkflowExecutions(ctx context.Context, in *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	if !strings.Contains(in.GetQuery(), "Broadcast") {
		return s.office.ListWorkflowExecutions(ctx, in)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	res := &workflowservice.ListWorkflowExecutionsResponse{}
	for _, id := range slices.Backward(s.order) {
		if strings.Contains(in.GetQuery(), "'"+s.runs[id].kind+"'") {
			res.Executions = append(res.Executions, s.info(id))
		}
	}
	return res, nil
}

// SignalWorkflowExecution takes orders.
func (s *station) SignalWorkflowExecution(ctx context.Context, in *workflowservice.SignalWorkflowExecutionRequest) (*workflowservice.SignalWorkflowExecutionResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := in.GetWorkflowExecution().GetWorkflowId()
	run, known := s.runs[id]
	switch {
	case in.GetSignalName() != contract.OrderSignal:
		return s.office.SignalWorkflowExecution(ctx, in)
	case !known || run.result != nil:
		return nil, status.Error(codes.NotFound, "workflow execution already completed")
	}
	var order contract.BroadcastOrder
	if err := converter.GetDefaultDataConverter().FromPayload(in.GetInput().GetPayloads()[0], &order); err != nil {
		return nil, err
	}
	s.orders = append(s.orders, order)
	if run.kind == contract.BroadcastWorkflow && !s.deaf {
		s.hear(run, order)
	}
	return &workflowservice.SignalWorkflowExecutionResponse{}, nil
}

func (s *station) hear(run *onAir, order contract.BroadcastOrder) {
	state := stateOf(run)
	state.Actions = append(state.Actions, order)
	state.Phase = map[string]contract.BroadcastPhase{
		contract.BroadcastPause: contract.BroadcastPaused, contract.BroadcastResume: contract.BroadcastRunning, contract.BroadcastCancel: contract.BroadcastCancelled,
	}[order.What]
	run.memo.Fields[contract.MemoState] = encoded(state)
}

func stateOf(run *onAir) contract.BroadcastState {
	var state contract.BroadcastState
	if err := converter.GetDefaultDataConverter().FromPayload(run.memo.GetFields()[contract.MemoState], &state); err != nil {
		panic(err)
	}
	return state
}

// audienceOf writes a file with these lines and returns its name.
func audienceOf(t *testing.T, lines ...string) string {
	t.Helper()
	return fileOf(t, "audience.csv", strings.Join(lines, "\n")+"\n")
}

// chatsFrom are so many chats.
func chatsFrom(first, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = strconv.Itoa(first + i)
	}
	return all
}

func fileOf(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// answered is the answer of a verb as JSON.
func answered[T any](t *testing.T, s service, args ...string) (T, console) {
	t.Helper()
	c := ask(t, s, append(args, "-o", "json")...)
	var v T
	require.NoError(t, json.Unmarshal([]byte(c.out), &v), c.out+c.errout)
	return v, c
}

// started has the station accept a broadcast.
func started(t *testing.T, s *station, name string, lines []string, args ...string) {
	t.Helper()
	c := ask(t, s, append([]string{"broadcast", "start", name, "--audience", audienceOf(t, lines...), "--text", "SECRET", "--yes"}, args...)...)
	require.Zero(t, c.code, c.errout)
}
