package cli_test

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// recordings is a server that has the recorded histories of package story, and
// lists executions as a real one does: the open ones first, then those closed
// last, a few at a time.
type recordings struct {
	fakeTemporal

	histories  map[string]string // fixture by workflow ID
	executions []*workflowpb.WorkflowExecutionInfo
	pageSize   int
}

func (r *recordings) events(id string) ([]*historypb.HistoryEvent, error) {
	name, ok := r.histories[id]
	if !ok {
		return nil, status.Error(codes.NotFound, "workflow not found")
	}
	data, err := os.ReadFile(filepath.Join("story", "testdata", name+".json"))
	if err != nil {
		return nil, err
	}
	history, err := client.HistoryFromJSON(bytes.NewReader(data), client.HistoryJSONOptions{})
	return history.GetEvents(), err
}

// DescribeWorkflowExecution knows the recorded ones.
func (r *recordings) DescribeWorkflowExecution(_ context.Context, in *workflowservice.DescribeWorkflowExecutionRequest) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	_, err := r.events(in.GetExecution().GetWorkflowId())
	if err != nil {
		return nil, err
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{
		WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
			Execution: &commonpb.WorkflowExecution{WorkflowId: in.GetExecution().GetWorkflowId(), RunId: "run"},
			Type:      &commonpb.WorkflowType{Name: "UpdateWorkflow"},
		},
	}, nil
}

// GetWorkflowExecutionHistory returns it whole.
func (r *recordings) GetWorkflowExecutionHistory(_ context.Context, in *workflowservice.GetWorkflowExecutionHistoryRequest) (*workflowservice.GetWorkflowExecutionHistoryResponse, error) {
	events, err := r.events(in.GetExecution().GetWorkflowId())
	return &workflowservice.GetWorkflowExecutionHistoryResponse{History: &historypb.History{Events: events}}, err
}

// ListWorkflowExecutions understands of a query only the status.
func (r *recordings) ListWorkflowExecutions(_ context.Context, in *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	var found []*workflowpb.WorkflowExecutionInfo
	for _, e := range r.executions {
		open := e.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
		if open == strings.HasSuffix(in.GetQuery(), "ExecutionStatus = 'Running'") {
			found = append(found, e)
		}
	}
	slices.SortStableFunc(found, func(a, b *workflowpb.WorkflowExecutionInfo) int {
		return cmp.Or(b.GetCloseTime().AsTime().Compare(a.GetCloseTime().AsTime()), b.GetStartTime().AsTime().Compare(a.GetStartTime().AsTime()))
	})
	from, _ := strconv.Atoi(string(in.GetNextPageToken()))
	res := &workflowservice.ListWorkflowExecutionsResponse{Executions: found[from:min(from+r.pageSize, len(found))]}
	if from+r.pageSize < len(found) {
		res.NextPageToken = []byte(strconv.Itoa(from + r.pageSize))
	}
	return res, nil
}

// execution is an update that came at this second and was closed at that one; 0
// is not yet.
func execution(update, began, closed int, end enumspb.WorkflowExecutionStatus) *workflowpb.WorkflowExecutionInfo {
	e := &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: "update/7/" + strconv.Itoa(update), RunId: "run"},
		StartTime: timestamppb.New(time.Unix(int64(began), 0)),
		Status:    enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
	}
	if closed != 0 {
		e.CloseTime, e.Status = timestamppb.New(time.Unix(int64(closed), 0)), end
	}
	return e
}
