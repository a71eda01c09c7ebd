package starter_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

func store(t *testing.T, b *bundle, raw ...string) {
	t.Helper()
	var all []json.RawMessage
	for _, r := range raw {
		all = append(all, json.RawMessage(r))
	}
	_, err := b.inbox.Store(t.Context(), all, 0)
	require.NoError(t, err)
}

func TestAnUpdateIsStartedWithTheseOptionsAndNoOthers(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{})
	raw := `{"update_id":5001,"message":{"chat":{"id":42},"text":"secret words"}}`
	store(t, b, raw)
	hash, err := contract.CanonicalHash(json.RawMessage(raw))
	require.NoError(t, err)
	w := b.server.get(t, 5001)
	require.Equal(t, client.StartWorkflowOptions{
		ID:                                       "update/77/5001",
		TaskQueue:                                "durabot-77",
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		EnableEagerStart:                         true,
		Memo:                                     map[string]any{"hash": hash, "order": "chat/42"},
		StaticSummary:                            "message → chat 42",
	}, w.opts)
	require.Equal(t, "UpdateWorkflow", w.kind)
}

func TestTheInputSaysWhatTheWorkflowNeeds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		handling := contract.Handling{Timeout: 3 * time.Second, Attempts: 3, AnswerCallbacks: true}
		b := setup(starter.Settings{Handling: handling, Attributes: true})
		store(t, b, `{"update_id":5,"callback_query":{"id":"cb","from":{"id":7},"message":{"chat":{"id":-42}}}}`)
		require.Equal(t, contract.UpdateInput{
			BotID: bot, UpdateID: 5, Kind: "callback_query", ChatID: -42, UserID: 7, CallbackID: "cb",
			ReceivedAt: time.Now(), Handling: handling, Attributes: true, Counted: true,
		}, b.server.get(t, 5).in)
	})
}

func TestTheUpdateIsStoredByteForByte(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{})
	raw := "{ \"update_id\" : 5 ,\n\t\"message\":{\"text\":\"<b>&\\u0041\\/é\",\"chat\":{\"id\":1.0},\"n\":12345678901234567890123,\"a\":1,\"a\":2}}"
	store(t, b, raw)
	require.Equal(t, raw, b.server.get(t, 5).raw)
}

func TestTheSummaryHoldsNoText(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{})
	store(t, b, `{"update_id":1,"inline_query":{"from":{"id":7},"query":"secret"}}`, `{"update_id":2}`,
		`{"update_id":3,"message":{"chat":{"id":-100},"text":"secret"}}`, `{"update_id":4,"message":"secret"}`)
	for update, want := range map[int64]string{1: "inline_query", 2: "update", 3: "message → chat -100", 4: "message"} {
		require.Equal(t, want, b.server.get(t, update).opts.StaticSummary)
	}
}

func TestSearchAttributesAreSetOnlyWhereTheyAreKnown(t *testing.T) {
	t.Parallel()
	raw := `{"update_id":1,"message":{"chat":{"id":42}}}`
	without := setup(starter.Settings{})
	store(t, without, raw)
	require.Zero(t, without.server.get(t, 1).opts.TypedSearchAttributes.Size())

	with := setup(starter.Settings{Attributes: true})
	store(t, with, raw, `{"update_id":2,"poll":{"id":"x"}}`)
	chat, kind := temporal.NewSearchAttributeKeyKeyword("TgChat"), temporal.NewSearchAttributeKeyKeyword("TgKind")
	require.Equal(t, temporal.NewSearchAttributes(kind.ValueSet("message"), chat.ValueSet("42")),
		with.server.get(t, 1).opts.TypedSearchAttributes)
	require.Equal(t, temporal.NewSearchAttributes(kind.ValueSet("poll")), with.server.get(t, 2).opts.TypedSearchAttributes)
}

const (
	oneUpdate   = `{"update_id":5,"message":{"chat":{"id":42},"text":"one"}}`
	otherUpdate = `{"update_id":5,"message":{"chat":{"id":42},"text":"two"}}`
)

func reusedID(t *testing.T, raw string) string {
	t.Helper()
	hash, err := contract.CanonicalHash(json.RawMessage(raw))
	require.NoError(t, err)
	return "update/77/5/" + hash[:8]
}

func TestAnUpdateIDThatComesAgainSoonIsADuplicateAndAWarning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(starter.Settings{})
		store(t, b, oneUpdate)
		<-time.After(6 * 24 * time.Hour)
		store(t, b, otherUpdate)
		require.Equal(t, []string{id(5)}, b.server.ids())
		require.Equal(t, 1, b.counts.duplicate)
		require.Equal(t, 1, b.log.count("level=WARN"))
		require.Contains(t, b.log.String(), "--new-ids")
		require.Contains(t, b.log.String(), "update_id=5")
		require.NotContains(t, b.log.String(), "two")
	})
}

func TestAnUpdateIDThatComesAgainAfterAWeekIsAnotherUpdate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(starter.Settings{})
		store(t, b, oneUpdate)
		<-time.After(6*24*time.Hour + time.Second)
		store(t, b, otherUpdate)
		again := reusedID(t, otherUpdate)
		require.Equal(t, []string{id(5), again}, b.server.ids())
		require.Contains(t, b.server.byID[again].raw, "two")
		require.Equal(t, id(5), b.server.byID[again].in.After, "the chat's order holds")
		require.Zero(t, b.counts.duplicate)
		require.NotContains(t, b.log.String(), "WARN")

		store(t, b, otherUpdate)
		require.Len(t, b.server.ids(), 2)
		require.Equal(t, 1, b.counts.duplicate, "redelivered under its second name, too")

		store(t, b, `{"update_id":6,"message":{"chat":{"id":42}}}`)
		require.Equal(t, again, b.server.get(t, 6).in.After)
	})
}

func TestTheSameUpdateIsADuplicateHoweverLateAndHoweverWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(starter.Settings{NewIDs: true})
		store(t, b, oneUpdate)
		<-time.After(30 * 24 * time.Hour)
		store(t, b, `{ "message":{"text":"one","chat":{"id":42}}, "update_id":5 }`)
		require.Equal(t, []string{id(5)}, b.server.ids())
		require.Equal(t, 1, b.counts.duplicate)
	})
}

func TestNewIDsTakesOtherContentForAnotherUpdateAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{NewIDs: true})
	store(t, b, oneUpdate)
	store(t, b, otherUpdate)
	require.Equal(t, []string{id(5), reusedID(t, otherUpdate)}, b.server.ids())
	require.NotContains(t, b.log.String(), "WARN")
}

func TestAnUpdateWhoseNamesakeWasForgottenThisMomentIsNotLost(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{})
	store(t, b, oneUpdate)
	b.server.describe = func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
		return nil, serviceerror.NewNotFound("gone")
	}
	store(t, b, otherUpdate)
	require.Equal(t, []string{id(5), reusedID(t, otherUpdate)}, b.server.ids())
}

func TestWithoutKnowingTheNamesakeTheOffsetStays(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{})
	store(t, b, oneUpdate)
	boom := errors.New("boom")
	b.server.describe = func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) { return nil, boom }
	next, err := b.inbox.Store(t.Context(), batch(json.RawMessage(oneUpdate)), 5)
	require.ErrorIs(t, err, boom)
	require.Equal(t, int64(5), next)
	require.Zero(t, b.counts.duplicate)
}

func TestANamesakeWithoutAMemoIsNoPanic(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{})
	store(t, b, oneUpdate)
	for _, memo := range []*commonpb.Memo{nil, {}, {Fields: map[string]*commonpb.Payload{"hash": {Data: []byte("{")}}}} {
		b.server.describe = func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
			info := execution(id(5), nil, time.Now())
			info.Memo = memo
			return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: info}, nil
		}
		store(t, b, oneUpdate)
	}
	require.Equal(t, 3, b.counts.duplicate)
	b.server.describe = func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
		return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{}}, nil
	}
	store(t, b, oneUpdate)
}

func TestTooOldUpdatesExpireAndSomeNeverDo(t *testing.T) {
	t.Parallel()
	const date = 946684800 // when the clock of a synctest bubble starts: 2000-01-01
	for _, row := range []struct {
		name, object string
		lasts        bool
	}{
		{"message", `"message":{"date":946684800,"chat":{"id":1},"text":"x"}`, false},
		{"edited message", `"edited_message":{"date":1,"edit_date":946684800,"chat":{"id":1}}`, false},
		{"payment", `"message":{"date":946684800,"chat":{"id":1},"successful_payment":{"currency":"XTR"}}`, true},
		{"my_chat_member", `"my_chat_member":{"date":946684800,"chat":{"id":1}}`, true},
		{"chat_member", `"chat_member":{"date":946684800,"chat":{"id":1}}`, false},
		{"no date", `"inline_query":{"from":{"id":1}}`, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				require.Equal(t, int64(date), time.Now().Unix())
				b, off := setup(starter.Settings{MaxAge: 10 * time.Minute}), setup(starter.Settings{})
				<-time.After(10 * time.Minute)
				store(t, b, `{"update_id":1,`+row.object+`}`)
				require.False(t, b.server.get(t, 1).in.Expired, "not yet")
				<-time.After(time.Second)
				store(t, b, `{"update_id":2,`+row.object+`}`)
				require.Equal(t, !row.lasts, b.server.get(t, 2).in.Expired)
				store(t, off, `{"update_id":2,`+row.object+`}`)
				require.False(t, off.server.get(t, 2).in.Expired, "off by default")
			})
		})
	}
}

func TestCountedKindsAreFewWhateverTelegramInvents(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{})
	store(t, b, `{"update_id":1,"message":{}}`)
	store(t, b, `{"update_id":2,"hologram":{}}`)
	store(t, b, `{"update_id":3,"`+strings.Repeat("z", 60)+`":{}}`)
	store(t, b, `{"update_id":4}`)
	require.Equal(t, []string{"message", "other", "other", ""}, b.counts.stored)
}
