package starter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
)

const (
	// maxPayload is the largest update that is stored. Temporal refuses payloads
	// above 2 MiB; Telegram's own limit for an update is 512 KiB
	// (tdlib/telegram-bot-api, Client.cpp).
	maxPayload = 3 << 19
	// reuseAfter is when an update_id can name another update: ids go on at
	// random after a week without updates (Bot API, "Update").
	reuseAfter = 6 * 24 * time.Hour
)

// Client is the part of a Temporal client that the inbox uses.
type Client interface {
	ExecuteWorkflow(ctx context.Context, o client.StartWorkflowOptions, workflow any, args ...any) (client.WorkflowRun, error)
	DescribeWorkflowExecution(ctx context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error)
	ListWorkflow(ctx context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error)
}

// start starts one update's workflow. Already started is as good as started:
// Temporal has it.
func (b *Inbox) start(ctx context.Context, e entry) error {
	hash, err := contract.CanonicalHash(e.raw)
	if err != nil {
		return err
	}
	id := contract.UpdateID(b.settings.BotID, e.UpdateID)
	fresh, err := b.execute(ctx, id, hash, e)
	if err == nil && !fresh {
		if fresh, err = b.reused(ctx, id, hash, e); fresh {
			id = contract.ReusedUpdateID(b.settings.BotID, e.UpdateID, hash)
			fresh, err = b.execute(ctx, id, hash, e)
		}
	}
	if err != nil {
		return fmt.Errorf("start %s: %w", id, err)
	}
	b.tails.Move(e.OrderKey, e.UpdateID, id, !fresh)
	if fresh {
		b.counts.Stored(label(e.Kind))
	} else {
		b.counts.Duplicate()
	}
	return nil
}

// execute reports whether the workflow was started now; false says that it had
// been started before, and is done or not.
func (b *Inbox) execute(ctx context.Context, id, hash string, e entry) (bool, error) {
	opts := client.StartWorkflowOptions{
		ID:                                       id,
		TaskQueue:                                contract.TaskQueue(b.settings.BotID),
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		EnableEagerStart:                         true,
		Memo:                                     map[string]any{contract.MemoHash: hash, contract.MemoOrder: e.OrderKey},
		StaticSummary:                            summary(e.Route),
	}
	if b.settings.Attributes {
		opts.TypedSearchAttributes = attributes(e.Route)
	}
	_, err := b.client.ExecuteWorkflow(ctx, opts, contract.UpdateWorkflow, b.input(e, id), payload(e.raw))
	if temporal.IsWorkflowExecutionAlreadyStartedError(err) {
		return false, nil
	}
	return err == nil, err
}

func (b *Inbox) input(e entry, id string) contract.UpdateInput {
	in := contract.UpdateInput{
		BotID: b.settings.BotID, UpdateID: e.UpdateID, Kind: e.Kind, ChatID: e.ChatID, UserID: e.UserID,
		CallbackID: e.CallbackID, ReceivedAt: b.now(), Dead: e.dead,
		Expired: b.tooOld(e.Route), Handling: b.settings.Handling, Attributes: b.settings.Attributes, Counted: b.settings.Attributes,
	}
	if after := b.tails.After(e.OrderKey); after != id {
		in.After = after
	}
	return in
}

// reused reports whether the update_id of a workflow that exists names another
// update now. Only after a week without updates does Telegram reuse one; before
// that a difference is noted and the update taken for the same.
func (b *Inbox) reused(ctx context.Context, id, hash string, e entry) (bool, error) {
	d, err := b.client.DescribeWorkflowExecution(ctx, id, "")
	if _, gone := errors.AsType[*serviceerror.NotFound](err); gone {
		return true, nil // its retention, longer than Telegram keeps an update, ended this moment
	}
	if err != nil {
		return false, err
	}
	info := d.GetWorkflowExecutionInfo()
	if memoText(info.GetMemo(), contract.MemoHash) == hash {
		return false, nil
	}
	if b.settings.NewIDs || b.now().Sub(info.GetStartTime().AsTime()) > reuseAfter {
		return true, nil
	}
	b.log.WarnContext(ctx, "an update_id was delivered again with other content: taken for a duplicate (--new-ids for a wiped Bot API server)",
		"update_id", e.UpdateID, "workflow_id", id)
	return false, nil
}

// tooOld never says so of a payment or of a change of the bot's own membership.
func (b *Inbox) tooOld(r Route) bool {
	if b.settings.MaxAge <= 0 || r.Date.IsZero() || r.Kind == "my_chat_member" || r.payment {
		return false
	}
	return b.now().Sub(r.Date) > b.settings.MaxAge
}

// payload keeps the update's bytes as they are: marshalled as a field they
// would be compacted and escaped.
func payload(raw json.RawMessage) converter.RawValue {
	return converter.NewRawValue(&commonpb.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingJSON)},
		Data:     raw,
	})
}

// tooLarge is what is kept of an update that does not fit.
func tooLarge(r Route, size int) json.RawMessage {
	return json.RawMessage(`{"update_id":` + strconv.FormatInt(r.UpdateID, 10) + `,"bytes":` + strconv.Itoa(size) + `}`)
}

// label is a kind of which there are few enough for a metric.
func label(kind string) string {
	if _, known := kinds[kind]; known || kind == "" {
		return kind
	}
	return "other"
}

func summary(r Route) string {
	name := r.Kind
	if name == "" {
		name = "update"
	}
	if r.ChatID == 0 {
		return name
	}
	return name + " → chat " + strconv.FormatInt(r.ChatID, 10)
}

func attributes(r Route) temporal.SearchAttributes {
	set := []temporal.SearchAttributeUpdate{temporal.NewSearchAttributeKeyKeyword(contract.AttributeKind).ValueSet(r.Kind)}
	if r.ChatID != 0 {
		set = append(set, chatAttribute(r.ChatID))
	}
	return temporal.NewSearchAttributes(set...)
}

func chatAttribute(chat int64) temporal.SearchAttributeUpdate {
	return temporal.NewSearchAttributeKeyKeyword(contract.AttributeChat).ValueSet(strconv.FormatInt(chat, 10))
}
