package activities_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

// post is the fake of Temporal's signals.
type post struct {
	mu     sync.Mutex
	sent   []letter
	answer map[string]error  // by workflow ID
	killed map[string]string // of those that were terminated: whom they waited for
	inputs map[string]any    // of those that are no updates
	lost   error             // what Describe answers
	then   func()            // after each signal
}

type letter struct{ to, signal, from string }

func (p *post) SignalWorkflow(_ context.Context, id, _, signal string, arg any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, letter{id, signal, arg.(string)})
	if p.then != nil {
		p.then()
	}
	return p.answer[id]
}

func (p *post) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	if p.lost != nil {
		return nil, p.lost
	}
	info := &workflowpb.WorkflowExecutionInfo{Status: enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED}
	if _, killed := p.killed[id]; killed {
		info.Status = enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: info}, nil
}

// GetWorkflowHistory is that of an update that waited for another.
func (p *post) GetWorkflowHistory(_ context.Context, id, _ string, _ bool, _ enumspb.HistoryEventFilterType) client.HistoryEventIterator {
	var in any = contract.UpdateInput{After: p.killed[id]}
	if other, ok := p.inputs[id]; ok {
		in = other
	}
	input, err := converter.GetDefaultDataConverter().ToPayloads(in)
	return &history{input, err}
}

// history is a history of which only the first event is read.
type history struct {
	input *commonpb.Payloads
	err   error
}

func (h *history) HasNext() bool { return true }

func (h *history) Next() (*historypb.HistoryEvent, error) {
	return &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
		WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{Input: h.input},
	}}, h.err
}

func TestOneThatWasTerminatedLeavesItsPlaceToThoseBeforeIt(t *testing.T) {
	t.Parallel()
	gone := serviceerror.NewNotFound("closed")
	for name, c := range map[string]struct {
		post *post
		ours bool
		last string // whom it asked last
	}{
		"the one before it is open":           {&post{answer: map[string]error{"update/1/1": gone}, killed: map[string]string{"update/1/1": "update/1/0"}}, false, "update/1/0"},
		"nobody was before it":                {&post{answer: map[string]error{"update/1/1": gone}, killed: map[string]string{"update/1/1": ""}}, true, "update/1/1"},
		"the one before it is closed as well": {&post{answer: map[string]error{"update/1/1": gone, "update/1/0": gone}, killed: map[string]string{"update/1/1": "update/1/0"}}, true, "update/1/0"},
		"two in a row": {&post{
			answer: map[string]error{"update/1/1": gone, "update/1/0": gone}, killed: map[string]string{"update/1/1": "update/1/0", "update/1/0": "update/1/-1"},
		}, false, "update/1/-1"},
		"a message that waited": {&post{
			answer: map[string]error{"update/1/1": gone}, killed: map[string]string{"update/1/1": ""},
			inputs: map[string]any{"update/1/1": contract.MessageInput{After: "message/1/a"}},
		}, false, "message/1/a"},
		"a message that waited for nobody": {&post{
			answer: map[string]error{"update/1/1": gone}, killed: map[string]string{"update/1/1": ""},
			inputs: map[string]any{"update/1/1": contract.MessageInput{Key: "k"}},
		}, true, "update/1/1"},
		"a dead letter": {&post{
			answer: map[string]error{"update/1/1": gone}, killed: map[string]string{"update/1/1": ""},
			inputs: map[string]any{"update/1/1": contract.DeadInput{Update: &contract.UpdateInput{After: "update/1/0"}}},
		}, true, "update/1/1"},
		"it ended by itself": {&post{answer: map[string]error{"update/1/1": gone}}, true, "update/1/1"},
		"it is forgotten":    {&post{answer: map[string]error{"update/1/1": gone}, lost: gone}, true, "update/1/1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ours, err := activities.NewTurns(c.post).AwaitTurn(t.Context(), second)
				require.NoError(t, err)
				require.Equal(t, c.ours, ours)
				asked := c.post.sent[len(c.post.sent)-1]
				require.Equal(t, letter{c.last, contract.WakeMeSignal, second.Self}, asked)
			})
		})
	}
}

func TestHowOneEndedIsAskedAgainWhenNobodyAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &post{answer: map[string]error{second.After: serviceerror.NewNotFound("closed")}, lost: context.DeadlineExceeded}
		_, err := activities.NewTurns(p).AwaitTurn(t.Context(), second)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

var second = contract.TurnInput{Self: "update/1/2", After: "update/1/1"}

func pass(t *testing.T, turns *activities.Turns, askers ...string) {
	t.Helper()
	require.NoError(t, turns.PassTurn(t.Context(), contract.PassInput{Self: second.After, Askers: askers}))
}

func TestATurnKnownToBeFreeIsTakenAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &post{}
		turns := activities.NewTurns(p)
		pass(t, turns)
		start := time.Now()
		ours, err := turns.AwaitTurn(t.Context(), second)
		require.NoError(t, err)
		require.True(t, ours)
		require.Zero(t, time.Since(start))
		require.Empty(t, p.sent)
	})
}

func TestATurnPassedWithinFourSecondsNeedsNoSignal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &post{}
		turns := activities.NewTurns(p)
		time.AfterFunc(3900*time.Millisecond, func() { pass(t, turns) })
		ours, err := turns.AwaitTurn(t.Context(), second)
		require.NoError(t, err)
		require.True(t, ours)
		require.Empty(t, p.sent)
		_, rooms := turns.Held()
		require.Zero(t, rooms)
	})
}

func TestAfterFourSecondsThePredecessorIsAsked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer error
		ours   bool
		fails  bool
	}{
		"it takes the question": {nil, false, false},
		"it is closed":          {serviceerror.NewNotFound("workflow execution already completed"), true, false},
		"nobody answers":        {serviceerror.NewUnavailable("away"), false, true},
		"no namespace":          {serviceerror.NewNamespaceNotFound("x"), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := &post{answer: map[string]error{second.After: c.answer}}
				turns := activities.NewTurns(p)
				start := time.Now()
				ours, err := turns.AwaitTurn(t.Context(), second)
				require.Equal(t, c.fails, err != nil)
				require.Equal(t, c.ours, ours)
				require.Equal(t, 4*time.Second, time.Since(start))
				require.Equal(t, []letter{{second.After, contract.WakeMeSignal, second.Self}}, p.sent)
				_, rooms := turns.Held()
				require.Zero(t, rooms, "a predecessor that ends elsewhere is not waited for any more")
			})
		})
	}
}

func TestATurnPassedWhileAskingIsNotMissed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &post{}
		turns := activities.NewTurns(p)
		p.then = func() {
			p.then = nil
			pass(t, turns)
		}
		ours, err := turns.AwaitTurn(t.Context(), second)
		require.NoError(t, err)
		require.True(t, ours)
	})
}

func TestAWaitInMemoryEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := activities.NewTurns(&post{answer: map[string]error{second.After: context.Canceled}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := turns.AwaitTurn(ctx, second)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, time.Second, time.Since(start))
	})
}

func TestTheWaitersInMemoryAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &post{}
		turns := activities.NewTurns(p)
		var wg sync.WaitGroup
		for i := range activities.MemoryWaiters {
			wg.Go(func() {
				ours, err := turns.AwaitTurn(t.Context(), contract.TurnInput{Self: "s" + strconv.Itoa(i), After: second.After})
				require.NoError(t, err)
				require.True(t, ours)
			})
		}
		synctest.Wait()
		start := time.Now()
		ours, err := turns.AwaitTurn(t.Context(), second)
		require.NoError(t, err)
		require.False(t, ours)
		require.Zero(t, time.Since(start), "one too many asks at once")
		pass(t, turns)
		wg.Wait()
		require.Len(t, p.sent, 1)

		ours, err = turns.AwaitTurn(t.Context(), contract.TurnInput{Self: "x", After: "unknown"})
		require.NoError(t, err)
		require.False(t, ours)
		require.Equal(t, 4*time.Second, time.Since(start), "there is room again")
	})
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	t.Parallel()
	turns := activities.NewTurns(&post{})
	pass(t, turns)
	for i := range activities.Remembered {
		require.True(t, turns.Finished(second.After))
		require.NoError(t, turns.PassTurn(t.Context(), contract.PassInput{Self: strconv.Itoa(i)}))
	}
	require.False(t, turns.Finished(second.After), "the oldest is forgotten")
	require.True(t, turns.Finished("0"))
	done, _ := turns.Held()
	require.Equal(t, activities.Remembered, done)
}

func TestPassingTheTurnWakesWhoAsked(t *testing.T) {
	t.Parallel()
	p := &post{answer: map[string]error{"closed": serviceerror.NewNotFound("closed")}}
	turns := activities.NewTurns(p)
	pass(t, turns, "a", "closed", "b")
	pass(t, turns, "a", "closed", "b")
	want := []letter{
		{"a", contract.YourTurnSignal, second.After}, {"closed", contract.YourTurnSignal, second.After}, {"b", contract.YourTurnSignal, second.After},
	}
	require.Equal(t, append(want, want...), p.sent, "twice is harmless")
	done, _ := turns.Held()
	require.Equal(t, 1, done)
}

func TestOneThatMayBeWaitedForAgainWakesAndIsNotRemembered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &post{}
		turns := activities.NewTurns(p)
		again := contract.PassInput{Self: second.After, Askers: []string{"a"}, Again: true}
		time.AfterFunc(time.Second, func() { _ = turns.PassTurn(t.Context(), again) })
		ours, err := turns.AwaitTurn(t.Context(), second)
		require.NoError(t, err)
		require.True(t, ours, "who waits in memory is woken")
		synctest.Wait()
		require.Equal(t, []letter{{"a", contract.YourTurnSignal, second.After}}, p.sent)
		done, rooms := turns.Held()
		require.Zero(t, done+rooms)

		start := time.Now()
		ours, err = turns.AwaitTurn(t.Context(), second)
		require.NoError(t, err)
		require.False(t, ours, "who comes later waits for the next time")
		require.Equal(t, 4*time.Second, time.Since(start))
	})
}

func TestOneWhoAsksTwiceIsToldTheSame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &post{}
		turns := activities.NewTurns(p)
		for range 2 {
			ours, err := turns.AwaitTurn(t.Context(), second)
			require.NoError(t, err)
			require.False(t, ours)
		}
		question := letter{second.After, contract.WakeMeSignal, second.Self}
		require.Equal(t, []letter{question, question}, p.sent)
		pass(t, turns)
		for range 2 {
			ours, err := turns.AwaitTurn(t.Context(), second)
			require.NoError(t, err)
			require.True(t, ours)
		}
	})
}

func TestOneWhoCannotBeWokenKeepsNobodyElseAsleep(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	p := &post{answer: map[string]error{"a": away}}
	turns := activities.NewTurns(p)
	err := turns.PassTurn(t.Context(), contract.PassInput{Self: second.After, Askers: []string{"a", "b"}})
	require.ErrorIs(t, err, away)
	require.ErrorContains(t, err, "wake a")
	require.Len(t, p.sent, 2)
	require.True(t, turns.Finished(second.After))
}
