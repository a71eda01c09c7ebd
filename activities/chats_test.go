package activities_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

var blocked = answered(403, "Forbidden: bot was blocked by the user")

func TestACallToAClosedChatEndsWithoutARequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*contract.SendInput)
		sent   int
	}{
		"message":                      {func(*contract.SendInput) {}, 0},
		"edit":                         {edit, 0},
		"pin, which is not counted":    {method("pinChatMessage", `{"chat_id":42,"message_id":1}`), 0},
		"read, which changes nothing":  {method("getChat", `{"chat_id":42}`), 1},
		"answer, which names no chat":  {method("answerCallbackQuery", `{"callback_query_id":"1"}`), 1},
		"another chat":                 {method("sendMessage", `{"chat_id":43,"text":"x"}`), 1},
		"a public name is nobody here": {public, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t).knowChats()
			w.chats.closed = map[int64]string{chat: "Forbidden: bot was blocked by the user"}
			in := message()
			c.change(&in)
			_, err := w.attempt(t, 1, in)
			require.Len(t, w.api.sent(), c.sent)
			require.Len(t, w.budget.wants, c.sent, "nor does it wait")
			if c.sent == 1 {
				require.NoError(t, err)
				return
			}
			require.Equal(t, contract.FailureUnreachable, direct(t, err).Type())
			require.True(t, direct(t, err).NonRetryable())
			require.Equal(t, "Forbidden: bot was blocked by the user", detail(t, direct(t, err)).Error)
		})
	}
}

func TestTenCallsThatWaitForABlockedChatCostOneRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t).knowChats()
		turn := make(chan struct{}, 1) // one request in the air per chat
		turn <- struct{}{}
		w.budget.acquire = func(context.Context) error { <-turn; return nil }
		w.budget.settled = func() { turn <- struct{}{} }
		w.budget.withdrawn = w.budget.settled
		w.api.script = []error{blocked}
		w.api.wait = func(context.Context) error { time.Sleep(time.Second); return nil }
		var wg sync.WaitGroup
		for n := range 10 {
			wg.Go(func() {
				a := &attempt{n: 1, call: "call " + string(rune('a'+n))}
				inActivity(t, a, func(ctx context.Context) {
					_, err := w.Send(ctx, message())
					require.Equal(t, contract.FailureUnreachable, direct(t, err).Type())
				})
			})
		}
		wg.Wait()
		require.Len(t, w.api.sent(), 1)
		require.Equal(t, 1, w.budget.done)
		require.Equal(t, 9, w.budget.cancelled)
	})
}

func TestAChatIsMarkedWithTheTimeItsRequestLeftAndBeforeTheGrantIsSettled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t).knowChats()
		w.budget.acquire = func(context.Context) error { time.Sleep(2 * time.Second); return nil }
		w.budget.settled = func() { require.Len(t, w.chats.marks, 1) }
		w.api.script = []error{blocked}
		w.api.wait = func(context.Context) error { time.Sleep(3 * time.Second); return nil }
		start := time.Now()
		_, err := w.attempt(t, 1, message())
		require.Equal(t, contract.FailureUnreachable, direct(t, err).Type())
		require.Len(t, w.chats.marks, 1)
		m := w.chats.marks[0]
		require.Equal(t, int64(chat), m.chat)
		require.Contains(t, m.why, "bot was blocked by the user")
		require.Equal(t, 2*time.Second, m.left.Sub(start))
	})
}

func TestAnAttemptThatTheServerGaveUpMarksItsChatAllTheSame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t).knowChats()
		w.api.script = []error{blocked}
		w.api.wait = func(context.Context) error { time.Sleep(3 * time.Second); return nil }
		_, _ = w.attemptIn(t, 1, message(), func(ctx context.Context) context.Context {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			t.Cleanup(cancel)
			return ctx
		})
		require.Len(t, w.chats.marks, 1)
	})
}

func TestOnlyTheKnownAnswersMarkAChat(t *testing.T) {
	t.Parallel()
	forward := method("forwardMessage", `{"chat_id":42,"from_chat_id":43,"message_id":1}`)
	reply := method("sendMessage", `{"chat_id":42,"text":"x","reply_parameters":{"message_id":1,"chat_id":43}}`)
	gone := answered(400, "Bad Request: chat not found")
	for name, c := range map[string]struct {
		answer error
		change func(*contract.SendInput)
		marked bool
	}{
		"blocked":                       {blocked, nil, true},
		"deactivated":                   {answered(403, "Forbidden: user is deactivated"), nil, true},
		"not found":                     {gone, nil, true},
		"a reply in the chat":           {gone, method("sendMessage", `{"chat_id":42,"text":"x","reply_parameters":{"message_id":1}}`), true},
		"a forward by a blocked bot":    {blocked, forward, true},
		"a forward, from either chat":   {gone, forward, false},
		"a reply, to either chat":       {gone, reply, false},
		"a 403 of an unknown text":      {answered(403, "Forbidden: something new"), nil, false},
		"a lack of rights":              {answered(400, "Bad Request: not enough rights to send text messages to the chat"), nil, false},
		"a read":                        {gone, method("getChat", `{"chat_id":42}`), false},
		"a chat known by a public name": {gone, public, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t).knowChats()
			w.api.script = []error{c.answer}
			in := message()
			if c.change != nil {
				c.change(&in)
			}
			_, err := w.attempt(t, 1, in)
			require.True(t, direct(t, err).NonRetryable())
			require.Equal(t, c.marked, len(w.chats.marks) == 1)
		})
	}
}

func TestOnlyALongPenaltyOnAChatIsKeptBesideTheBudget(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wait   time.Duration
		change func(*contract.SendInput)
		kept   bool
	}{
		"long":          {31 * time.Second, nil, true},
		"short":         {29 * time.Second, nil, false},
		"no chat":       {time.Hour, nowhere, false},
		"a public name": {time.Hour, public, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t).knowChats()
			w.api.script = []error{limited(c.wait)}
			in := message()
			if c.change != nil {
				c.change(&in)
			}
			least := time.Now().Add(c.wait)
			_, err := w.attempt(t, 1, in)
			require.Equal(t, contract.FailureRateLimited, direct(t, err).Type())
			require.Len(t, w.budget.penalties, 1)
			if !c.kept {
				require.Empty(t, w.chats.penalties)
				return
			}
			require.Equal(t, w.budget.penalties, w.chats.penalties)
			require.False(t, w.chats.penalties[0].until.Before(least), "never early")
		})
	}
}

func TestOnlyEditsOfOneMessageReplaceEachOther(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ method, params, want string }{
		{"editMessageText", `{"chat_id":1,"message_id":17,"text":"x"}`, "editMessageText/17"},
		{"editMessageText", `{"chat_id":1,"message_id":"17","text":"x"}`, "editMessageText/17"},
		{"editMessageCaption", `{"chat_id":1,"message_id":17}`, "editMessageCaption/17"},
		{"editMessageText", `{"chat_id":1,"message_id":17,"business_connection_id":"b"}`, "editMessageText/17/b"},
		{"editMessageText", `{"inline_message_id":"17"}`, ""},
		{"editMessageText", `{"chat_id":1}`, ""},
		{"editMessageText", `[]`, ""},
		{"editMessageLiveLocation", `{"chat_id":1,"message_id":17,"latitude":1}`, "editMessageLiveLocation/17"},
		{"editMessageLiveLocation", `{"chat_id":1,"message_id":17,"live_period":60}`, ""},
		{"editForumTopic", `{"chat_id":1,"message_thread_id":17}`, ""},
		{"deleteMessage", `{"chat_id":1,"message_id":17}`, ""},
		{"sendMessage", `{"chat_id":1,"message_id":17}`, ""},
	} {
		require.Equal(t, c.want, activities.Edited(c.method, json.RawMessage(c.params)), c.method+c.params)
	}
}
