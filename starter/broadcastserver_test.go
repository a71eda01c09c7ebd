package starter_test

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

// crier is a Temporal that knows broadcasts and their parts by workflow ID.
type crier struct {
	starter.Client

	mu      sync.Mutex
	taken   map[string]*workflowservice.DescribeWorkflowExecutionResponse
	opts    map[string]client.StartWorkflowOptions
	parts   map[string]contract.PartInput
	whole   map[string]contract.BroadcastInput
	order   []string // of what was started
	largest int      // bytes of an input
	at      int      // starts under way
	most    int

	// before is called ahead of each start, after it once the server has it, look
	// ahead of each look, all outside the lock.
	before, after, look func(id string) error
}

func newCrier() *crier {
	none := func(string) error { return nil }
	return &crier{
		taken: map[string]*workflowservice.DescribeWorkflowExecutionResponse{}, opts: map[string]client.StartWorkflowOptions{},
		parts: map[string]contract.PartInput{}, whole: map[string]contract.BroadcastInput{}, before: none, after: none, look: none,
	}
}

func (c *crier) ExecuteWorkflow(ctx context.Context, o client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	c.count(1)
	defer c.count(-1)
	if err := c.before(o.ID); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := c.take(o, args[0]); err != nil {
		return nil, err
	}
	return postRun{}, c.after(o.ID)
}

func (c *crier) count(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at += n
	c.most = max(c.most, c.at)
}

func (c *crier) take(o client.StartWorkflowOptions, in any) error {
	payload, err := converter.GetDefaultDataConverter().ToPayload(in)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.taken[o.ID] != nil {
		return serviceerror.NewWorkflowExecutionAlreadyStarted("already started", "", "")
	}
	c.taken[o.ID] = &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: execution(o.ID, o.Memo, time.Now())}
	c.opts[o.ID], c.order = o, append(c.order, o.ID)
	c.largest = max(c.largest, len(payload.GetData()))
	switch in := in.(type) {
	case contract.PartInput:
		c.parts[o.ID] = in
	case contract.BroadcastInput:
		c.whole[o.ID] = in
	}
	return nil
}

func (c *crier) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	if err := c.look(id); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.taken[id] == nil {
		return nil, serviceerror.NewNotFound("workflow not found")
	}
	return c.taken[id], nil
}

// end closes a workflow.
func (c *crier) end(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.taken[id].WorkflowExecutionInfo.CloseTime = timestamppb.Now()
}

// audience is who the parts of a broadcast are for, in order.
func (c *crier) audience(t require.TestingT, name string) []contract.Recipient {
	c.mu.Lock()
	defer c.mu.Unlock()
	in := c.whole[contract.BroadcastID(bot, name)]
	var all []contract.Recipient
	for i, size := range in.Sizes {
		part := c.parts[contract.PartID(bot, name, i+1)]
		require.Len(t, part.Recipients, size)
		require.Equal(t, []int{i + 1, len(in.Sizes)}, []int{part.Part, part.Parts})
		for _, r := range part.Recipients {
			all = append(all, r.Recipient)
		}
	}
	require.Equal(t, contract.BroadcastID(bot, name), c.order[len(c.order)-1], "the broadcast comes last")
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(c.order))), len(in.Sizes)+1)
	require.Len(t, c.order, len(in.Sizes)+1)
	return all
}

// news is a broadcast of a text.
func news(name string, recipients []contract.Recipient) starter.Broadcast {
	return starter.Broadcast{
		Name: name, Recipients: recipients,
		What: contract.BroadcastCall{Call: contract.Call{Method: "sendMessage", Params: json.RawMessage(`{"text":"SECRET news"}`)}},
	}
}

// people are recipients with ids from 1.
func people(n int, f map[string]string) []contract.Recipient {
	all := make([]contract.Recipient, n)
	for i := range all {
		all[i] = contract.Recipient{Chat: strconv.Itoa(i + 1), Fields: f}
	}
	return all
}

func nobody(int) {}

func launch(t *testing.T, c *crier, bc starter.Broadcast) (starter.BroadcastStart, error) {
	t.Helper()
	return starter.NewBroadcasts(c, bot, false).Start(t.Context(), bc, nobody)
}
