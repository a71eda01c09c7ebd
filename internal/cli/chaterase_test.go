package cli_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/temporal"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/durabot/durabot/internal/contract"
)

// shelf is a namespace with workflows of bot 7 that nobody runs.
type shelf struct {
	client.Client

	env map[string]string
}

func newShelf(t *testing.T) shelf {
	t.Helper()
	address, name := temporal(t), newName("shelf")
	require.NoError(t, registerNamespace(t.Context(), address, name))
	env := map[string]string{"TEMPORAL_ADDRESS": address, "TEMPORAL_NAMESPACE": name, "DURABOT_BOT": "7"}
	require.Zero(t, run(t.Context(), env, "setup").code)
	c, err := client.NewLazyClient(client.Options{HostPort: address, Namespace: name})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return shelf{c, env}
}

// put starts a workflow.
func (s shelf) put(t *testing.T, id, workflow, chat string) {
	t.Helper()
	opts := client.StartWorkflowOptions{ID: id, TaskQueue: contract.TaskQueue(7)}
	if chat != "" {
		opts.TypedSearchAttributes = sdk.NewSearchAttributes(sdk.NewSearchAttributeKeyKeyword(contract.AttributeChat).ValueSet(chat))
	}
	_, err := s.ExecuteWorkflow(t.Context(), opts, workflow)
	require.NoError(t, err)
}

func (s shelf) has(ctx context.Context, id string) bool {
	_, err := s.DescribeWorkflow(ctx, id, "")
	_, none := errors.AsType[*serviceerror.NotFound](err)
	return !none
}

func TestEraseTakesAllOfAChatAndNothingOfOthers(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for _, chat := range []string{"42", "43", "-42"} {
		s.put(t, "update/7/1"+chat, contract.UpdateWorkflow, chat)
		s.put(t, "update/7/2"+chat, contract.UpdateWorkflow, chat)
		s.put(t, "message/7/k"+chat, contract.MessageWorkflow, chat)
		s.put(t, "dead/7/message/k"+chat, contract.DeadLetterWorkflow, chat)
		s.put(t, "chat/7/"+chat, contract.ChatWorkflow, "")
	}
	s.settled(t, 15)
	c := run(t.Context(), s.env, "chat", "erase", "42", "--yes", "-o", "json")
	require.Zero(t, c.code, c.errout)
	require.Equal(t, "chat 42: 5 workflows, 5 open\n", c.errout)
	require.JSONEq(t, `{"erased":5,"ended":5,"left":0}`, c.out)
	for _, id := range []string{"update/7/1", "update/7/2", "message/7/k", "dead/7/message/k", "chat/7/"} {
		require.False(t, s.has(t.Context(), id+"42"), id)
		require.True(t, s.has(t.Context(), id+"43"), id)
		require.True(t, s.has(t.Context(), id+"-42"), id)
	}
	c = run(t.Context(), s.env, "chat", "erase", "-42", "--yes")
	require.Zero(t, c.code, c.errout)
	require.Contains(t, c.out, "chat -42: erased 5 workflows, ended 5 of them; 0 left\nnot reached:\n  - what was started while the search attributes were missing")
	c = run(t.Context(), s.env, "chat", "erase", "42", "--yes")
	require.Zero(t, c.code, c.errout)
	require.Contains(t, c.out, "chat 42: erased 0 workflows, ended 0 of them; 0 left\n")
}

// settled waits until the list knows of all that was put.
func (s shelf) settled(t *testing.T, n int64) {
	t.Helper()
	require.Eventually(t, func() bool {
		res, err := s.CountWorkflow(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{})
		return err == nil && res.GetCount() == n
	}, patience, 20*time.Millisecond)
}

func TestEraseOfHundredsLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for i := range 250 { // more than a page
		s.put(t, fmt.Sprintf("update/7/%d", i), contract.UpdateWorkflow, "42")
	}
	s.settled(t, 250)
	c := run(t.Context(), s.env, "chat", "erase", "42", "--yes", "-o", "json")
	require.Zero(t, c.code, c.errout)
	require.JSONEq(t, `{"erased":250,"ended":250,"left":0}`, c.out)
}

func TestEraseNeedsToFindTheChat(t *testing.T) {
	t.Parallel()
	o := newOffice()
	delete(o.attributes, contract.AttributeChat)
	c := ask(t, o, "chat", "erase", "42", "--yes")
	require.Equal(t, 1, c.code)
	require.Equal(t, "durabot: chat erase finds a chat by the search attribute TgChat, which is not registered: run `durabot setup`\n", c.errout)
}

// crypt is a server with closed and open workflows of chat 42 that are still
// listed a few times after they were deleted.
type crypt struct {
	*office

	mu      sync.Mutex
	runs    map[string]int // how often a run is still listed, by run ID
	deleted []string
	refuses int // how many deletions fail first
}

// CountWorkflowExecutions counts what is listed.
func (c *crypt) CountWorkflowExecutions(context.Context, *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &workflowservice.CountWorkflowExecutionsResponse{Count: int64(len(c.runs))}, nil
}

// ListWorkflowExecutions lists runs, those from 5 on as open ones.
func (c *crypt) ListWorkflowExecutions(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	res := &workflowservice.ListWorkflowExecutionsResponse{}
	for run, times := range c.runs {
		info := &workflowpb.WorkflowExecutionInfo{
			Execution: &commonpb.WorkflowExecution{WorkflowId: "message/7/k", RunId: run}, Status: enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED,
		}
		if run >= "5" {
			info.Status = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
		}
		res.Executions = append(res.Executions, info)
		if c.runs[run]--; slices.Contains(c.deleted, run) && times <= 0 {
			delete(c.runs, run)
		}
	}
	return res, nil
}

// DeleteWorkflowExecution notes it.
func (c *crypt) DeleteWorkflowExecution(_ context.Context, in *workflowservice.DeleteWorkflowExecutionRequest) (*workflowservice.DeleteWorkflowExecutionResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refuses--; c.refuses >= 0 {
		return nil, status.Error(codes.ResourceExhausted, "later")
	}
	c.deleted = append(c.deleted, in.GetWorkflowExecution().GetRunId())
	return &workflowservice.DeleteWorkflowExecutionResponse{}, nil
}

func TestEraseDeletesEachRunOnceAndWaitsUntilItIsGone(t *testing.T) {
	t.Parallel()
	c := &crypt{office: newOffice(), runs: map[string]int{}, refuses: 2}
	for i := range 9 {
		c.runs[strconv.Itoa(i)] = i / 3
	}
	got := ask(t, c, "chat", "erase", "42", "--yes", "-o", "json")
	require.Zero(t, got.code, got.errout)
	require.JSONEq(t, `{"erased":9,"ended":4,"left":0}`, got.out)
	slices.Sort(c.deleted)
	require.Equal(t, []string{"0", "1", "2", "3", "4", "5", "6", "7", "8"}, c.deleted)
}

func TestAnInterruptedEraseSaysThatItIsNotDone(t *testing.T) {
	t.Parallel()
	c := &crypt{office: newOffice(), runs: map[string]int{"1": 1 << 30}}
	ctx, stop := context.WithCancel(t.Context())
	address := serve(t, c)
	go func() {
		defer stop()
		for c.listed("1") < 2 && ctx.Err() == nil {
			<-time.After(5 * time.Millisecond)
		}
	}()
	got := run(ctx, map[string]string{"TEMPORAL_ADDRESS": address, "DURABOT_BOT": "7"}, "chat", "erase", "42", "--yes", "-o", "json")
	require.Equal(t, 1, got.code)
	require.JSONEq(t, `{"erased":1,"ended":0,"left":1}`, got.out)
	require.Contains(t, got.errout, "durabot: erase chat 42: context canceled: run it again\n")
}

// listed is how often a run was listed.
func (c *crypt) listed(run string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return 1<<30 - c.runs[run]
}
