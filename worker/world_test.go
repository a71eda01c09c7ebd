package worker_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdkworker "go.temporal.io/sdk/worker"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/stats"
	"github.com/durabot/durabot/internal/telemetry"
	"github.com/durabot/durabot/worker"
	"github.com/durabot/durabot/worker/limiter"
)

// server is a Temporal that knows its health, its search attributes and a duty.
type server struct {
	client.Client
	operatorservice.OperatorServiceClient
	health     func() error // nil hangs
	attributes []string
	err        error

	mu      sync.Mutex
	none    bool   // there is no duty workflow
	holder  string // "" for nobody
	waiting time.Time
	pause   *contract.Pause
	started int
}

func (s *server) WorkflowService() workflowservice.WorkflowServiceClient { return frontend{s: s} }

// frontend is the server as far as it is asked for its namespace.
type frontend struct {
	workflowservice.WorkflowServiceClient
	s *server
}

func (f frontend) DescribeNamespace(ctx context.Context, _ *workflowservice.DescribeNamespaceRequest, _ ...grpc.CallOption) (*workflowservice.DescribeNamespaceResponse, error) {
	if f.s.health == nil {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &workflowservice.DescribeNamespaceResponse{}, f.s.health()
}

func (s *server) OperatorService() operatorservice.OperatorServiceClient { return s }

func (s *server) ListSearchAttributes(_ context.Context, in *operatorservice.ListSearchAttributesRequest, _ ...grpc.CallOption) (*operatorservice.ListSearchAttributesResponse, error) {
	res := &operatorservice.ListSearchAttributesResponse{CustomAttributes: map[string]enumspb.IndexedValueType{}}
	if in.GetNamespace() != "bots" {
		return res, s.err
	}
	for _, name := range s.attributes {
		res.CustomAttributes[name] = enumspb.INDEXED_VALUE_TYPE_KEYWORD
	}
	return res, s.err
}

func (s *server) DescribeWorkflowExecution(context.Context, string, string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	if s.none {
		return nil, serviceerror.NewNotFound("no such workflow")
	}
	state, err := converter.GetDefaultDataConverter().ToPayload(contract.DutyState{Pause: s.pause})
	if err != nil {
		return nil, err
	}
	term := &workflowpb.PendingActivityInfo{
		ActivityType:  &commonpb.ActivityType{Name: contract.HoldDutyActivity},
		State:         enumspb.PENDING_ACTIVITY_STATE_SCHEDULED,
		ScheduledTime: timestamppb.New(s.waiting),
	}
	if s.holder != "" {
		term.State, term.LastWorkerIdentity = enumspb.PENDING_ACTIVITY_STATE_STARTED, s.holder
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{
		WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
			Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
			Memo:   &commonpb.Memo{Fields: map[string]*commonpb.Payload{contract.MemoState: state}},
		},
		PendingActivities: []*workflowpb.PendingActivityInfo{term},
	}, nil
}

func (s *server) ExecuteWorkflow(context.Context, client.StartWorkflowOptions, any, ...any) (client.WorkflowRun, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started++
	s.none = false
	return nil, nil //nolint:nilnil // nobody looks at the run
}

// staff are workers that write down what they are told.
type staff struct {
	sdkworker.Worker
	name string
	log  *journal
	err  error
	stop func()
}

func (s *staff) Start() error {
	s.log.write("start " + s.name)
	return s.err
}

func (s *staff) Stop() {
	s.log.write("stop " + s.name)
	if s.stop != nil {
		s.stop()
	}
}

// journal is what happened, in order.
type journal struct {
	mu  sync.Mutex
	all []string
}

func (j *journal) write(what string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.all = append(j.all, what)
}

func (j *journal) read() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]string{}, j.all...)
}

// ready is a health whose start is over.
func ready() *telemetry.Health {
	h := telemetry.NewHealth()
	h.Well(telemetry.PartStart)
	return h
}

func newMetrics(t *testing.T) *telemetry.Metrics {
	t.Helper()
	m, err := telemetry.NewMetrics()
	require.NoError(t, err)
	return m
}

var errRefused = errors.New("refused")

// newProcess is a process whose main worker writes into the journal.
func newProcess(t *testing.T, s *server, log *journal, probe func(context.Context) error) (worker.Process, *staff) {
	t.Helper()
	main := &staff{name: "main", log: log}
	o := worker.Options{Temporal: s, Limits: limiter.DefaultConfig(), Log: silent, Health: ready(), Metrics: newMetrics(t), Numbers: &stats.Source{}}
	return worker.NewProcess(o, main, probe), main
}
