package starter_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

// post is a Temporal that knows messages by their workflow IDs.
type post struct {
	starter.Client

	mu       sync.Mutex
	taken    map[string]*workflowpb.WorkflowExecutionInfo
	opts     client.StartWorkflowOptions
	in       contract.MessageInput
	starts   int
	failure  error // of every start
	describe error // of every look
}

func newPost() *post { return &post{taken: map[string]*workflowpb.WorkflowExecutionInfo{}} }

type postRun struct{ client.WorkflowRun }

func (postRun) GetRunID() string { return "run" }

func (p *post) ExecuteWorkflow(_ context.Context, o client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.starts++
	if p.failure != nil {
		return nil, p.failure
	}
	if p.taken[o.ID] != nil {
		return nil, serviceerror.NewWorkflowExecutionAlreadyStarted("already started", "", "")
	}
	p.taken[o.ID] = execution(o.ID, o.Memo, time.Now())
	p.opts, p.in = o, args[0].(contract.MessageInput)
	return postRun{}, nil
}

func (p *post) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.describe != nil {
		return nil, p.describe
	}
	if p.taken[id] == nil {
		return nil, serviceerror.NewNotFound("workflow not found")
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: p.taken[id]}, nil
}

func hello(chat string) contract.Call {
	return contract.Call{Method: "sendMessage", Params: json.RawMessage(`{"chat_id":` + chat + `,"text":"hello SECRET"}`)}
}

func send(t *testing.T, p *post, key string, call contract.Call) (starter.Accepted, error) {
	t.Helper()
	return starter.NewMessages(p, bot, false).Send(t.Context(), starter.Message{Key: key, Call: call})
}

func TestAMessageIsStartedWithTheseOptionsAndNoOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPost()
		call := hello("-100")
		hash, err := call.Hash()
		require.NoError(t, err)
		began := time.Now()
		got, err := send(t, p, "order-9", call)
		require.NoError(t, err)
		require.Equal(t, starter.Accepted{Key: "order-9", WorkflowID: "message/77/order-9", RunID: "run", At: began}, got)
		require.Equal(t, client.StartWorkflowOptions{
			ID: "message/77/order-9", TaskQueue: "durabot-77",
			WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
			WorkflowExecutionErrorWhenAlreadyStarted: true,
			Memo:                                     map[string]any{"hash": hash},
			Priority:                                 temporal.Priority{PriorityKey: 3},
			StaticSummary:                            "sendMessage → chat -100",
		}, p.opts)
		require.Equal(t, contract.MessageInput{BotID: bot, Key: "order-9", Call: call, AcceptedAt: began, CancelWaits: true}, p.in)
	})
}

func TestAMessageIsFoundByChatAndMethodWhereAttributesAreKnown(t *testing.T) {
	t.Parallel()
	p := newPost()
	m := starter.NewMessages(p, bot, true)
	_, err := m.Send(t.Context(), starter.Message{Key: "", Call: hello(`"@channel"`)})
	require.NoError(t, err)
	chat, kind := temporal.NewSearchAttributeKeyKeyword("TgChat"), temporal.NewSearchAttributeKeyKeyword("TgKind")
	require.Equal(t, temporal.NewSearchAttributes(kind.ValueSet("sendMessage"), chat.ValueSet("@channel")), p.opts.TypedSearchAttributes)
	require.True(t, p.in.Attributes)
	_, err = m.Send(t.Context(), starter.Message{Key: "", Call: contract.Call{Method: "setMyCommands"}})
	require.NoError(t, err)
	require.Equal(t, temporal.NewSearchAttributes(kind.ValueSet("setMyCommands")), p.opts.TypedSearchAttributes)
	require.Equal(t, "setMyCommands", p.opts.StaticSummary)
}

func TestAMessageForLaterIsDelayedByTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for wait, want := range map[time.Duration]time.Duration{time.Hour: time.Hour, 0: 0, -time.Hour: 0} {
			p, call := newPost(), hello("1")
			call.At = time.Now().Add(wait)
			_, err := send(t, p, "", call)
			require.NoError(t, err)
			require.Equal(t, want, p.opts.StartDelay)
			require.Equal(t, call.At, p.in.Call.At, "the workflow waits, too, when it is woken early")
		}
	})
}

func TestTheServersOrderFollowsTheClass(t *testing.T) {
	t.Parallel()
	for class, key := range map[contract.Priority]int{contract.Urgent: 1, contract.Normal: 3, contract.Bulk: 5, "": 3} {
		p, call := newPost(), hello("1")
		call.Priority = class
		_, err := send(t, p, "", call)
		require.NoError(t, err)
		require.Equal(t, key, p.opts.Priority.PriorityKey)
	}
}

func TestTheSameKeyAndContentIsADuplicate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPost()
		m := starter.NewMessages(p, bot, false)
		first, err := m.Send(t.Context(), starter.Message{Key: "order-9", Call: hello("1")})
		require.NoError(t, err)
		<-time.After(time.Hour)
		again := contract.Call{
			Method: "sendMessage", Params: json.RawMessage(`{ "text":"hello SECRET", "chat_id":1 }`), At: time.Now().Add(time.Hour),
		}
		second, err := m.Send(t.Context(), starter.Message{Key: "order-9", Call: again})
		require.NoError(t, err)
		require.True(t, second.Duplicate)
		require.Equal(t, first.WorkflowID, second.WorkflowID)
		require.True(t, second.At.Equal(first.At), "the first time counts")
		require.Len(t, p.taken, 1)
	})
}

func TestTheSameKeyWithOtherContentIsRefused(t *testing.T) {
	t.Parallel()
	p := newPost()
	m := starter.NewMessages(p, bot, false)
	_, err := m.Send(t.Context(), starter.Message{Key: "order-9", Call: hello("1")})
	require.NoError(t, err)
	policy := hello("1")
	policy.Delivery = contract.AtMostOnce
	for _, other := range []contract.Call{hello("2"), policy, {Method: "sendPhoto", Params: hello("1").Params}} {
		_, err = m.Send(t.Context(), starter.Message{Key: "order-9", Call: other})
		require.ErrorIs(t, err, starter.ErrOtherContent)
		require.NotContains(t, err.Error(), "SECRET")
	}
	require.Len(t, p.taken, 1)
}

func TestAHandlersMessageOfThatKeyIsTheSame(t *testing.T) {
	t.Parallel()
	p := newPost()
	p.taken["message/77/order-9"] = execution("message/77/order-9", nil, time.Now())
	got, err := send(t, p, "order-9", hello("1"))
	require.NoError(t, err)
	require.True(t, got.Duplicate)
}

func TestAKeyThatIsForgottenThisMomentIsFree(t *testing.T) {
	t.Parallel()
	p := newPost()
	p.taken["message/77/order-9"] = execution("message/77/order-9", nil, time.Now())
	p.describe = serviceerror.NewNotFound("gone")
	_, err := send(t, p, "order-9", hello("1"))
	require.ErrorContains(t, err, "look at message/77/order-9")
	require.Equal(t, 2, p.starts, "tried again, and not for ever")
}

func TestWithoutAnAnswerTheKeyIsKnownForAnotherTry(t *testing.T) {
	t.Parallel()
	p := newPost()
	p.failure = errors.New("boom")
	m := starter.NewMessages(p, bot, false)
	got, err := m.Send(t.Context(), starter.Message{Key: "", Call: hello("1")})
	require.ErrorIs(t, err, p.failure)
	require.NotEmpty(t, got.Key)
	p.failure = nil
	again, err := m.Send(t.Context(), starter.Message{Key: got.Key, Call: hello("1")})
	require.NoError(t, err)
	require.Equal(t, got.WorkflowID, again.WorkflowID)

	p.describe = errors.New("boom")
	_, err = m.Send(t.Context(), starter.Message{Key: got.Key, Call: hello("1")})
	require.ErrorIs(t, err, p.describe)
}

func TestWithoutAKeyEveryCallIsAMessageOfItsOwn(t *testing.T) {
	t.Parallel()
	p := newPost()
	m := starter.NewMessages(p, bot, false)
	last := ""
	for range 3 {
		got, err := m.Send(t.Context(), starter.Message{Key: "", Call: hello("1")})
		require.NoError(t, err)
		id, err := uuid.Parse(got.Key)
		require.NoError(t, err)
		require.Equal(t, uuid.Version(7), id.Version())
		require.Greater(t, got.Key, last, "sorted by time")
		last = got.Key
	}
	require.Len(t, p.taken, 3)
}

func TestWhatCannotBeSentIsNotStarted(t *testing.T) {
	t.Parallel()
	p := newPost()
	m := starter.NewMessages(p, bot, false)
	for want, row := range map[string]struct {
		key  string
		call contract.Call
	}{
		"key: want at most 200 characters, got 201":             {strings.Repeat("é", 201), hello("1")},
		`key: '\n' cannot be printed`:                           {"a\nb", hello("1")},
		`key: '\u202e' cannot be printed`:                       {"a\u202eb", hello("1")},
		"key: it is no UTF-8":                                   {"a\xff", hello("1")},
		`update-5-0 is of the form that calls of a handler get`: {"update-5-0", hello("1")},
		"no Bot API method name":                                {"k", contract.Call{Method: "send message"}},
		"params are no JSON object":                             {"k", contract.Call{Method: "sendMessage", Params: json.RawMessage(`[]`)}},
		"want at most 1572864 bytes of params, got 1572906":     {"k", hello(`1,"x":"` + strings.Repeat("x", 1572864) + `"`)},
		"chat_id is 0":                                          {"k", hello("0")},
	} {
		_, err := m.Send(t.Context(), starter.Message{Key: row.key, Call: row.call})
		require.ErrorContains(t, err, want)
	}
	require.Zero(t, p.starts)
}

func TestAMessageWaitsForTheOneItNames(t *testing.T) {
	t.Parallel()
	p := newPost()
	m := starter.NewMessages(p, bot, false)
	_, err := m.Send(t.Context(), starter.Message{Key: "first", Call: hello("1")})
	require.NoError(t, err)
	require.Empty(t, p.in.After)
	_, err = m.Send(t.Context(), starter.Message{Key: "second", Call: hello("1"), After: "first", AfterDelivered: true})
	require.NoError(t, err)
	require.Equal(t, "message/77/first", p.in.After)
	require.True(t, p.in.AfterDelivered)
}

func TestAMessageAfterOneThatDoesNotExistIsRefused(t *testing.T) {
	t.Parallel()
	p := newPost()
	m := starter.NewMessages(p, bot, false)
	got, err := m.Send(t.Context(), starter.Message{Key: "second", Call: hello("1"), After: "first"})
	require.ErrorIs(t, err, starter.ErrNoMessage)
	require.Zero(t, got, "nothing was started")
	require.ErrorContains(t, err, "after message/77/first: no such message")
	p.describe = errors.New("boom")
	_, err = m.Send(t.Context(), starter.Message{Key: "second", Call: hello("1"), After: "first"})
	require.ErrorIs(t, err, p.describe)
	require.NotErrorIs(t, err, starter.ErrNoMessage, "nobody knows")
	require.Zero(t, p.starts)
}

func TestAMessageAfterItselfIsRefused(t *testing.T) {
	t.Parallel()
	p := newPost()
	m := starter.NewMessages(p, bot, false)
	for want, after := range map[string]string{
		"after: k is the message itself":              "k",
		"after: want at most 200 characters, got 201": strings.Repeat("x", 201),
		`after: '\n' cannot be printed`:               "a\nb",
		"after: it is no UTF-8":                       "a\xff",
	} {
		_, err := m.Send(t.Context(), starter.Message{Key: "k", Call: hello("1"), After: after})
		require.ErrorContains(t, err, want)
	}
	p.taken["message/77/update-5-0"] = execution("message/77/update-5-0", nil, time.Now())
	_, err := m.Send(t.Context(), starter.Message{Key: "k", Call: hello("1"), After: "update-5-0"})
	require.NoError(t, err, "a handler's message may be waited for")
}

// However a key looks, it is refused or it makes a workflow ID that Temporal
// takes and a person can read.
func TestEveryAcceptedKeyFitsIntoAWorkflowID(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := newPost()
		key := rapid.OneOf(rapid.String(), rapid.StringN(195, 205, -1), rapid.StringMatching(`update-[0-9]{1,4}-[0-9]{0,2}`)).Draw(t, "key")
		got, err := starter.NewMessages(p, bot, false).Send(context.Background(), starter.Message{Key: key, Call: hello("1")})
		if err != nil {
			require.Zero(t, p.starts)
			return
		}
		require.LessOrEqual(t, len(got.WorkflowID), 1000)
		require.True(t, key == "" || got.Key == key)
		require.NotContains(t, got.WorkflowID, "\n")
	})
}
