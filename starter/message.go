package starter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
)

// Messages accepts single calls from outside: each becomes a message workflow,
// once for its key.
type Messages struct {
	client     Client
	bot        int64
	attributes bool
	now        func() time.Time
}

// NewMessages returns the way in for a bot's messages. Attributes is whether the
// namespace knows our search attributes.
func NewMessages(client Client, bot int64, attributes bool) *Messages {
	return &Messages{client: client, bot: bot, attributes: attributes, now: time.Now}
}

// Accepted is a message that Temporal has.
type Accepted struct {
	Key        string
	WorkflowID string
	// RunID is that of the workflow.
	RunID string
	// At is when it was accepted; for a duplicate that is the first time.
	At time.Time
	// Duplicate is set when the key had been used for the same content: nothing
	// is sent by this one.
	Duplicate bool
}

// ErrOtherContent is wrapped by Send for a key under which another message was
// accepted. That one stays as it is.
var ErrOtherContent = errors.New("the key belongs to a message with another method, other parameters or another policy")

// Send accepts a call. An empty key is replaced by a UUIDv7, which nothing else
// has. The error says what is wrong with the key or the call, or that Temporal
// gave no answer; then the key is in what is returned, and under it the call may
// be sent again without being made twice.
func (m *Messages) Send(ctx context.Context, key string, call contract.Call) (Accepted, error) {
	call, hash, err := sealMessage(key, call)
	if err != nil {
		return Accepted{}, err
	}
	if key == "" {
		if key, err = newKey(); err != nil {
			return Accepted{}, err
		}
	}
	res := Accepted{Key: key, WorkflowID: contract.MessageID(m.bot, key)}
	// Twice: what is in the way may be forgotten before it is looked at.
	for range 2 {
		if err = m.execute(ctx, &res, hash, call); !temporal.IsWorkflowExecutionAlreadyStartedError(err) {
			break
		}
		err = m.taken(ctx, &res, hash)
		if _, forgotten := errors.AsType[*serviceerror.NotFound](err); !forgotten {
			break
		}
	}
	return res, err
}

// sealMessage checks what is to be stored and returns it with its hash.
func sealMessage(key string, call contract.Call) (contract.Call, string, error) {
	if err := CheckKey(key); err != nil {
		return call, "", err
	}
	call, err := call.Seal()
	if err != nil {
		return call, "", err
	}
	if params, ok := call.Params.(json.RawMessage); ok && len(params) > maxPayload {
		return call, "", fmt.Errorf("call %s: want at most %d bytes of params, got %d", call.Method, maxPayload, len(params))
	}
	hash, err := call.Hash()
	return call, hash, err
}

// execute starts the message's workflow. A call for later is delayed by the
// server, so that nothing has to run until then.
func (m *Messages) execute(ctx context.Context, res *Accepted, hash string, call contract.Call) error {
	res.At = m.now()
	opts := client.StartWorkflowOptions{
		ID:                                       res.WorkflowID,
		TaskQueue:                                contract.TaskQueue(m.bot),
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		StartDelay:                               max(call.At.Sub(res.At), 0),
		Memo:                                     map[string]any{contract.MemoHash: hash},
		Priority:                                 temporal.Priority{PriorityKey: priorityKey(call.Priority)},
		StaticSummary:                            call.Summary(),
	}
	if m.attributes {
		opts.TypedSearchAttributes = callAttributes(call)
	}
	in := contract.MessageInput{BotID: m.bot, Key: res.Key, Call: call, Attributes: m.attributes}
	run, err := m.client.ExecuteWorkflow(ctx, opts, contract.MessageWorkflow, in)
	if err != nil {
		return fmt.Errorf("start %s: %w", res.WorkflowID, err)
	}
	res.RunID = run.GetRunID()
	return nil
}

// taken tells the same message from another one under its key. One without a
// hash was started by a handler, for which the key alone decides.
func (m *Messages) taken(ctx context.Context, res *Accepted, hash string) error {
	d, err := m.client.DescribeWorkflowExecution(ctx, res.WorkflowID, "")
	if err != nil {
		return fmt.Errorf("look at %s: %w", res.WorkflowID, err)
	}
	info := d.GetWorkflowExecutionInfo()
	if first := memoText(info.GetMemo(), contract.MemoHash); first != "" && first != hash {
		return fmt.Errorf("%s: %w", res.WorkflowID, ErrOtherContent)
	}
	res.RunID, res.At, res.Duplicate = info.GetExecution().GetRunId(), info.GetStartTime().AsTime(), true
	return nil
}

// priorityKey is the server's order, 1 before 5, of what nobody has polled yet.
// Updates have 3, the default: many bulk messages do not hold them up.
func priorityKey(p contract.Priority) int {
	switch p {
	case contract.Urgent:
		return 1
	case contract.Bulk:
		return 5
	default:
		return 3
	}
}

func callAttributes(call contract.Call) temporal.SearchAttributes {
	set := []temporal.SearchAttributeUpdate{temporal.NewSearchAttributeKeyKeyword(contract.AttributeKind).ValueSet(call.Method)}
	if to := call.Address(); to != "" {
		set = append(set, temporal.NewSearchAttributeKeyKeyword(contract.AttributeChat).ValueSet(to))
	}
	return temporal.NewSearchAttributes(set...)
}
