package starter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
)

// excerptMost is how much is kept of a body that is no JSON.
const excerptMost = 64 << 10

// bury keeps a body without an update_id as a dead letter, named after its hash,
// so that it is kept once however often it is posted.
func (b *Inbox) bury(ctx context.Context, body []byte) error {
	in := b.letter(body)
	id := contract.DeadID(b.settings.BotID, in.Kind+"/"+in.Key)
	opts := client.StartWorkflowOptions{
		ID:                                       id,
		TaskQueue:                                contract.TaskQueue(b.settings.BotID),
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		Memo:                                     map[string]any{contract.MemoState: opened(in)},
		StaticSummary:                            "a post that is no update: " + string(in.Reason),
	}
	if b.settings.Attributes {
		opts.TypedSearchAttributes = temporal.NewSearchAttributes(
			temporal.NewSearchAttributeKeyKeyword(contract.AttributeKind).ValueSet(in.Method),
			temporal.NewSearchAttributeKeyKeyword(contract.AttributeOutcome).ValueSet(string(in.Reason)),
		)
	}
	_, err := b.client.ExecuteWorkflow(ctx, opts, contract.DeadLetterWorkflow, in, payload(kept(body)))
	switch {
	case temporal.IsWorkflowExecutionAlreadyStartedError(err):
		b.counts.Duplicate()
		return nil
	case err != nil:
		return fmt.Errorf("start %s: %w", id, err)
	}
	b.counts.Undecodable()
	b.log.WarnContext(ctx, "a post with the right secret is no update: kept as a dead letter", "workflow_id", id, "bytes", len(body))
	return nil
}

// letter has no id, kind or chat: nothing of that is known of the body.
func (b *Inbox) letter(body []byte) contract.DeadInput {
	now, sum := b.now(), sha256.Sum256(body)
	return contract.DeadInput{
		BotID: b.settings.BotID, Kind: contract.DeadUpdate, Key: contract.PostPrefix + hex.EncodeToString(sum[:]),
		Reason: contract.ReasonUndecodable, Error: fmt.Sprintf("a post of %d bytes that has no update_id", len(body)),
		AcceptedAt: now, At: now,
		Update: &contract.UpdateInput{
			BotID: b.settings.BotID, ReceivedAt: now, Dead: contract.ReasonUndecodable,
			Handling: b.settings.Handling, Attributes: b.settings.Attributes, Counted: b.settings.Attributes,
		},
		Attributes: b.settings.Attributes,
	}
}

// opened is what such a letter shows until somebody acts on it.
func opened(in contract.DeadInput) contract.DeadState {
	return contract.DeadState{
		State: contract.DeadOpen, Kind: in.Kind, Key: in.Key, Reason: in.Reason, Error: in.Error, AcceptedAt: in.AcceptedAt, At: in.At,
	}
}

// kept is the body where it is JSON, and else a JSON object that tells of it.
func kept(body []byte) json.RawMessage {
	if utf8.Valid(body) && json.Valid(body) {
		return body
	}
	sum := sha256.Sum256(body)
	told, err := json.Marshal(struct {
		Bytes  int    `json:"bytes"`
		SHA256 string `json:"sha256"`
		Begin  []byte `json:"begin"` // in base64
	}{len(body), hex.EncodeToString(sum[:]), body[:min(len(body), excerptMost)]})
	if err != nil {
		return json.RawMessage("null") // a number, a string and bytes always marshal
	}
	return told
}
