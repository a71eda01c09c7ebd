package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
)

// door is one answer and what must become of it.
type door struct {
	name   string
	answer error
	// change turns the usual call into this one, nil for none.
	change func(*contract.SendInput)
	// kind is the failure's type; the flags say that it is the last one, and that
	// it counts against the call.
	kind      string
	final     bool
	counts    bool
	duplicate bool
	// own says that the delay is the call's own without counting against it.
	own bool
	// least and most bound the delay of a failure that is not final.
	least, most time.Duration
	penalty     *penalty // its until is not looked at
}

func once(in *contract.SendInput)  { in.Call.Delivery = contract.AtMostOnce }
func short(in *contract.SendInput) { in.Deadline = time.Now().Add(time.Minute) }

func method(name, params string) func(*contract.SendInput) {
	return func(in *contract.SendInput) {
		in.Call.Method, in.Call.Params = name, json.RawMessage(params)
	}
}

var (
	edit    = method("editMessageText", `{"chat_id":42,"message_id":1,"text":"x"}`)
	album   = method("sendMediaGroup", `{"chat_id":42,"media":[{},{}]}`)
	nowhere = method("setMyCommands", `{"commands":[]}`)
	public  = method("sendMessage", `{"chat_id":"@News","text":"x"}`)
)

func doors() []door {
	const s = time.Second
	chatwide := &penalty{chat: chat, method: "sendMessage"}
	again := func(name string, answer error, duplicate bool) door {
		return door{name: name, answer: answer, kind: contract.FailureUnavailable, counts: true, duplicate: duplicate, least: s, most: 2 * s}
	}
	last := func(name string, answer error, kind string, change func(*contract.SendInput)) door {
		return door{name: name, answer: answer, kind: kind, final: true, change: change}
	}
	limit := func(name string, wait, least, most time.Duration, p *penalty, change func(*contract.SendInput)) door {
		return door{name: name, answer: limited(wait), kind: contract.FailureRateLimited, least: least, most: most, penalty: p, change: change}
	}
	safe := again("reset of an edit, which may be repeated", reset, false)
	safe.change = edit
	tooLong := limit("429 beyond the deadline", 90*s, 0, 0, chatwide, short)
	tooLong.kind, tooLong.final = contract.FailureExpired, true
	lone := limit("429 without a chat", 3*s, 3*s, 3500*time.Millisecond, &penalty{method: "setMyCommands"}, nowhere)
	lone.own = true
	absurd := limit("429 of a month", 31*24*time.Hour, 14*24*time.Hour, 14*24*time.Hour+s, chatwide, func(in *contract.SendInput) {
		in.Deadline = time.Now().Add(90 * 24 * time.Hour)
	})
	token := door{name: "401", answer: answered(401, "Unauthorized"), kind: contract.FailureUnauthorized, least: 2 * s, most: 5 * s}
	gone := token
	gone.name, gone.answer = "400 logged out", answered(400, "Logged out")
	return []door{
		{name: "ok"},
		{name: "not modified", answer: answered(400, "Bad Request: message is not modified: same content"), change: edit},
		{name: "message to delete not found", answer: answered(400, "Bad Request: message to delete not found")},
		{name: "immediately deleted", answer: answered(500, "Internal Server Error: sent message was immediately deleted and can't be returned")},

		limit("429 with a delay", 7*s, 7*s, 7500*time.Millisecond, chatwide, nil),
		limit("429 of hours", 10072*s, 10072*s, 10073*s, chatwide, nil),
		limit("429 without a delay", 0, s, 1500*time.Millisecond, chatwide, nil),
		lone,
		limit("429 of a public name", 3*s, 3*s, 3500*time.Millisecond, &penalty{chat: activities.BudgetChat(json.RawMessage(`{"chat_id":"@news"}`)), method: "sendMessage"}, public),
		limit("429 of an at-most-once call", 7*s, 7*s, 7500*time.Millisecond, chatwide, once),
		tooLong, absurd,

		again("connection refused", refused, false),
		again("500 restart", answered(500, "Internal Server Error: restart"), true),
		again("502 page", page(502), true),
		again("body cut", cutBody, true),
		again("reset after writing", reset, true),
		again("an error that says nothing", errors.New("boom"), true),
		again("file for now unavailable", answered(400, "Bad Request: failed to get HTTP URL content"), false),
		safe,
		last("reset of an at-most-once call", reset, contract.FailureUncertain, once),
		last("502 page for an at-most-once call", page(502), contract.FailureUncertain, once),
		last("part of an album", answered(400, `Bad Request: failed to send message #1 with the error message "Too Many Requests: retry after 8"`), contract.FailureUncertain, album),

		last("blocked", answered(403, "Forbidden: bot was blocked by the user"), contract.FailureUnreachable, nil),
		last("deactivated", answered(403, "Forbidden: user is deactivated"), contract.FailureUnreachable, nil),
		last("kicked", answered(403, "Forbidden: bot was kicked from the supergroup chat"), contract.FailureUnreachable, nil),
		last("never started", answered(403, "Forbidden: bot can't initiate conversation with a user"), contract.FailureUnreachable, nil),
		last("chat not found", answered(400, "Bad Request: chat not found"), contract.FailureUnreachable, nil),
		last("query too old", answered(400, "Bad Request: query is too old and response timeout expired or query ID is invalid"), contract.FailureExpired, nil),
		last("403 of an unknown text", answered(403, "Forbidden: something new"), contract.FailureRejected, nil),
		last("400 for content", answered(400, "Bad Request: message text is empty"), contract.FailureRejected, nil),
		last("unknown method", answered(404, "Not Found: method not found"), contract.FailureRejected, nil),
		last("413 page", page(http.StatusRequestEntityTooLarge), contract.FailureRejected, nil),
		last("invalid call", &telegram.Error{Err: telegram.ErrInvalidCall}, contract.FailureRejected, nil),
		token, gone,
	}
}

func TestEveryAnswerLeavesByTheOneDoor(t *testing.T) {
	t.Parallel()
	for _, d := range doors() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { d.check(t) })
		})
	}
}

func (d door) check(t *testing.T) {
	w := newWorld(t)
	w.api.script = []error{d.answer}
	in := message()
	if d.change != nil {
		d.change(&in)
	}
	res, err := w.attempt(t, 1, in)
	require.Len(t, w.api.sent(), 1)
	if d.kind == "" {
		require.NoError(t, err)
		require.Equal(t, contract.Delivered, res.Outcome)
		require.Equal(t, 1, res.Attempts)
		require.Equal(t, []bool{false}, w.tokens)
		return
	}
	app := direct(t, err)
	require.Equal(t, d.kind, app.Type())
	require.Equal(t, d.final, app.NonRetryable())
	require.Equal(t, temporal.ApplicationErrorCategoryBenign, app.Category())
	known := detail(t, app)
	require.Equal(t, in.Call.Method, known.Method)
	require.Equal(t, d.duplicate, known.PossibleDuplicate)
	require.NotEmpty(t, known.Error)
	d.checkPenalty(t, w)
	if d.final {
		return
	}
	require.GreaterOrEqual(t, app.NextRetryDelay(), d.least)
	require.LessOrEqual(t, app.NextRetryDelay(), d.most)
	ledger := w.recorder.last()
	require.NotNil(t, ledger, "an attempt that is to be repeated writes its number")
	require.Equal(t, int32(1), ledger.Attempt)
	require.False(t, ledger.InFlight)
	require.Equal(t, d.counts, ledger.Failures == 1)
	require.Equal(t, d.counts || d.own, !ledger.FailingSince.IsZero())
}

func (d door) checkPenalty(t *testing.T, w *world) {
	t.Helper()
	if d.penalty == nil {
		require.Empty(t, w.budget.penalties)
		return
	}
	require.Len(t, w.budget.penalties, 1)
	got := w.budget.penalties[0]
	require.GreaterOrEqual(t, time.Until(got.until), d.least, "a penalty never ends early")
	got.until = time.Time{}
	require.Equal(t, *d.penalty, got)
}

func TestFloodsWithoutADelayWaitLongerEachTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for n := range int32(9) {
			w.api.script = append(w.api.script, limited(0))
			_, err := w.attempt(t, n+1, message())
			least := min(time.Minute, time.Second<<n)
			require.GreaterOrEqual(t, direct(t, err).NextRetryDelay(), least)
			require.Less(t, direct(t, err).NextRetryDelay(), least+time.Second)
		}
		require.Zero(t, w.recorder.last().Failures, "floods are no failures")
		w.api.script = append(w.api.script, limited(time.Second))
		_, err := w.attempt(t, 10, message())
		require.Less(t, direct(t, err).NextRetryDelay(), 2*time.Second)
		require.Zero(t, w.recorder.last().Floods, "a named delay ends the row")
	})
}

func TestEightFailuresEndACall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for n := int32(1); n <= activities.MaxFailures; n++ {
			w.api.script = append(w.api.script, limited(time.Second), refused)
			_, err := w.attempt(t, 2*n-1, message())
			require.Equal(t, contract.FailureRateLimited, direct(t, err).Type())
			_, err = w.attempt(t, 2*n, message())
			app := direct(t, err)
			if n < activities.MaxFailures {
				require.Equal(t, contract.FailureUnavailable, app.Type())
				continue
			}
			require.Equal(t, contract.FailureGaveUp, app.Type())
			require.True(t, app.NonRetryable())
			require.Equal(t, int(2*n), detail(t, app).Attempts)
		}
	})
}

func TestPacingCountsNoFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, wait := range []time.Duration{6 * time.Second, 0, -time.Second} {
		w.budget.acquire = func(context.Context) error { return paced{in: wait} }
		_, err := w.attempt(t, 1, message())
		app := direct(t, err)
		require.Equal(t, contract.FailurePaced, app.Type())
		require.False(t, app.NonRetryable())
		require.Equal(t, max(wait, time.Millisecond), app.NextRetryDelay(), "0 would be no delay of ours")
		require.Equal(t, contract.Ledger{Attempt: 1, Error: "waiting for the chat's window"}, *w.recorder.last())
	}
	require.Empty(t, w.api.sent())
}

func TestBare404IsTheTokenOnlyIfGetMeSaysSo(t *testing.T) {
	t.Parallel()
	bare := answered(404, "Not Found")
	for name, c := range map[string]struct {
		probe error
		kind  string
		final bool
	}{
		"getMe works":      {nil, contract.FailureRejected, true},
		"getMe gets 404":   {bare, contract.FailureUnauthorized, false},
		"getMe gets 401":   {answered(401, "Unauthorized"), contract.FailureUnauthorized, false},
		"getMe gets 502":   {page(502), contract.FailureUnavailable, false},
		"getMe is limited": {limited(time.Second), contract.FailureUnavailable, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.api.script = []error{bare, c.probe}
			_, err := w.attempt(t, 1, message())
			require.Equal(t, c.kind, direct(t, err).Type())
			require.Equal(t, c.final, direct(t, err).NonRetryable())
			require.Equal(t, "getMe", w.api.sent()[1].method)
			require.Equal(t, c.kind == contract.FailureUnauthorized, len(w.tokens) == 1)
		})
	}
}
