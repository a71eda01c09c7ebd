package stats_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/stats"
)

const bot = 7

type (
	countRequest  = workflowservice.CountWorkflowExecutionsRequest
	countResponse = workflowservice.CountWorkflowExecutionsResponse
)

// store is a Temporal that knows since when calls wait, and no duty unless it is
// told one. What it does not understand, the test with a real server does.
type store struct {
	stats.Client // there is no other method

	since  []time.Time // of those that wait, the oldest first
	vanish bool        // what is counted has ended when it is listed
	holder func() (*workflowservice.DescribeWorkflowExecutionResponse, error)
	err    func(query string) error
	// broadcasts and parts are what is open of these, and ledgers what the batches of a
	// part have written, by its ID.
	broadcasts, parts []*workflowpb.WorkflowExecutionInfo
	ledgers           map[string][]contract.BatchLedger
	requests          atomic.Int64
	listed            atomic.Int64 // the most at a time
}

var bound = regexp.MustCompile(`ExecutionTime <= '([^']+)'`)

// before is how many wait that had their time before the last bound of a query.
func (s *store) before(query string) int {
	all := bound.FindAllStringSubmatch(query, -1)
	at, err := time.Parse(time.RFC3339Nano, all[len(all)-1][1])
	if err != nil {
		panic(err)
	}
	n, _ := slices.BinarySearchFunc(s.since, at, func(since, at time.Time) int {
		if since.After(at) {
			return 1
		}
		return -1
	})
	return n
}

func (s *store) CountWorkflow(_ context.Context, r *countRequest) (*countResponse, error) {
	s.requests.Add(1)
	if s.err != nil {
		if err := s.err(r.GetQuery()); err != nil {
			return nil, err
		}
	}
	n := 0
	if strings.Contains(r.GetQuery(), "ExecutionTime") {
		n = s.before(r.GetQuery())
	}
	return &countResponse{Count: int64(n)}, nil
}

// ListWorkflow answers in no order, as the server does.
func (s *store) ListWorkflow(_ context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	s.requests.Add(1)
	res := &workflowservice.ListWorkflowExecutionsResponse{}
	switch {
	case s.err != nil && s.err(r.GetQuery()) != nil:
		return nil, s.err(r.GetQuery())
	case strings.Contains(r.GetQuery(), "'"+contract.BroadcastWorkflow+"'"):
		res.Executions = s.broadcasts
		return res, nil
	case strings.Contains(r.GetQuery(), "'"+contract.BroadcastPartWorkflow+"'"):
		res.Executions = s.parts
		return res, nil
	case s.vanish:
		return res, nil
	}
	for _, since := range s.since[:s.before(r.GetQuery())] {
		res.Executions = append(res.Executions, &workflowpb.WorkflowExecutionInfo{ExecutionTime: timestamppb.New(since)})
	}
	s.listed.Store(max(s.listed.Load(), int64(len(res.Executions))))
	slices.Reverse(res.Executions)
	if n := len(res.Executions); n > 1 {
		res.Executions[0], res.Executions[n/2] = res.Executions[n/2], res.Executions[0]
	}
	return res, nil
}

func (s *store) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	s.requests.Add(1)
	if i := slices.IndexFunc(s.parts, func(p *workflowpb.WorkflowExecutionInfo) bool { return p.GetExecution().GetWorkflowId() == id }); i >= 0 {
		return s.part(s.parts[i]), nil
	}
	if s.holder != nil {
		return s.holder()
	}
	return nil, serviceerror.NewNotFound("no duty")
}
