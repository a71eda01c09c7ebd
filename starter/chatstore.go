package starter

import (
	"context"
	"errors"
	"strconv"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
)

// markTimeout bounds each request for a mark. With it a batch of starts that all
// hang is still within longestRound.
const markTimeout = 3 * time.Second

// ChatClient is the part of a Temporal client that Chats uses.
type ChatClient interface {
	SignalWithStartWorkflow(ctx context.Context, workflowID, signalName string, signalArg any, o client.StartWorkflowOptions, workflow any, args ...any) (client.WorkflowRun, error)
	SignalWorkflow(ctx context.Context, workflowID, runID, signalName string, arg any) error
	DescribeWorkflowExecution(ctx context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error)
	ListWorkflow(ctx context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error)
}

// chatStore keeps marks in the workflows of their chats.
type chatStore struct {
	client     ChatClient
	bot        int64
	attributes bool
}

// mark adds to the chat's state, and starts its workflow where there is none.
func (s chatStore) mark(ctx context.Context, chat int64, mark contract.ChatMark) error {
	ctx, cancel := context.WithTimeout(ctx, markTimeout)
	defer cancel()
	opts := client.StartWorkflowOptions{
		TaskQueue:             contract.TaskQueue(s.bot),
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		StaticSummary:         "chat " + strconv.FormatInt(chat, 10),
	}
	if s.attributes {
		opts.TypedSearchAttributes = temporal.NewSearchAttributes(chatAttribute(chat))
	}
	in := contract.ChatInput{BotID: s.bot, State: contract.ChatState{ChatID: chat}, Attributes: s.attributes}
	_, err := s.client.SignalWithStartWorkflow(ctx, contract.ChatID(s.bot, chat), contract.ChatMarkSignal, mark, opts, contract.ChatWorkflow, in)
	return err
}

// clear takes back a closed mark that was made before the time. A chat without a
// workflow has none.
func (s chatStore) clear(ctx context.Context, chat int64, before time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, markTimeout)
	defer cancel()
	err := s.client.SignalWorkflow(ctx, contract.ChatID(s.bot, chat), "", contract.ChatClearSignal, contract.ChatClear{
		Before: before, Reason: "an update came", By: "intake",
	})
	if notFound(err) {
		return nil
	}
	return err
}

// state is what the chat's open workflow shows; empty when there is none.
func (s chatStore) state(ctx context.Context, chat int64) (contract.ChatState, error) {
	ctx, cancel := context.WithTimeout(ctx, markTimeout)
	defer cancel()
	var state contract.ChatState
	d, err := s.client.DescribeWorkflowExecution(ctx, contract.ChatID(s.bot, chat), "")
	switch {
	case notFound(err):
		return state, nil
	case err != nil:
		return state, err
	}
	if info := d.GetWorkflowExecutionInfo(); info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		memoInto(info.GetMemo(), contract.MemoState, &state)
	}
	return state, nil
}

func notFound(err error) bool {
	_, ok := errors.AsType[*serviceerror.NotFound](err)
	return ok
}
