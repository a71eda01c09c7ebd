package starter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/serviceerror"
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

// Message is one call to be made, once for its key.
type Message struct {
	// Key is the idempotency key; empty is replaced by a UUIDv7, which nothing
	// else has. It counts, and not that of the call.
	Key string
	// Call is what to make. Its At, when it lies ahead, is when it leaves.
	Call contract.Call
	// After is the key of the message that has to end first, "" for none. It must
	// have been accepted before.
	After string
	// AfterDelivered ends this one cancelled when that one was not delivered.
	AfterDelivered bool
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

// ErrNoMessage is wrapped by Send for a message that has to wait for one that
// Temporal does not know: it was never accepted, or is forgotten.
var ErrNoMessage = errors.New("no such message")

// Send accepts a message. The error says what is wrong with it, or that Temporal
// gave no answer; then the key is in what is returned, and under it the message
// may be sent again without being made twice.
func (m *Messages) Send(ctx context.Context, msg Message) (Accepted, error) {
	hash, err := msg.seal()
	if err != nil {
		return Accepted{}, err
	}
	if msg.Key == "" {
		if msg.Key, err = newKey(); err != nil {
			return Accepted{}, err
		}
	}
	if err := m.known(ctx, msg.After); err != nil {
		return Accepted{}, err
	}
	res := Accepted{Key: msg.Key, WorkflowID: contract.MessageID(m.bot, msg.Key)}
	// Twice: what is in the way may be forgotten before it is looked at.
	for range 2 {
		if err = m.execute(ctx, &res, hash, msg); !temporal.IsWorkflowExecutionAlreadyStartedError(err) {
			break
		}
		err = m.taken(ctx, &res, hash)
		if _, forgotten := errors.AsType[*serviceerror.NotFound](err); !forgotten {
			break
		}
	}
	return res, err
}

// seal checks what is to be stored, puts the call into wire form and returns its
// hash.
func (msg *Message) seal() (hash string, err error) {
	if err := CheckKey(msg.Key); err != nil {
		return "", err
	}
	if err := CheckAfter(msg.After, msg.Key); err != nil {
		return "", err
	}
	if msg.Call, err = msg.Call.Seal(); err != nil {
		return "", err
	}
	if params, ok := msg.Call.Params.(json.RawMessage); ok && len(params) > maxPayload {
		return "", fmt.Errorf("call %s: want at most %d bytes of params, got %d", msg.Call.Method, maxPayload, len(params))
	}
	return msg.Call.Hash()
}

// known makes sure of the message that has to end first, before one is stored
// that would wait for nobody.
func (m *Messages) known(ctx context.Context, after string) error {
	if after == "" {
		return nil
	}
	id := contract.MessageID(m.bot, after)
	_, err := m.client.DescribeWorkflowExecution(ctx, id, "")
	if _, none := errors.AsType[*serviceerror.NotFound](err); none {
		return fmt.Errorf("after %s: %w", id, ErrNoMessage)
	}
	if err != nil {
		return fmt.Errorf("look at %s: %w", id, err)
	}
	return nil
}
