package activities_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

const rawUpdate = `{ "update_id":9001, "message":{"text":"a <b> & c","big":9007199254740993} }`

var received = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// handling runs a handler as the activity does, for at most a minute.
func handling(t *testing.T, log *slog.Logger, handler activities.Handler) ([]contract.Call, error) {
	t.Helper()
	h := &activities.Handling{
		Handler: handler, Reader: activities.NewReader(&fakeAPI{}, &fakeFiles{}), Log: log,
		Redact: func(s string) string { return strings.ReplaceAll(s, "TOKEN", "***") },
	}
	in := contract.HandleInput{UpdateID: 9001, Kind: "message", ChatID: 1, UserID: 2, ReceivedAt: received}
	raw := converter.NewRawValue(&commonpb.Payload{Data: []byte(rawUpdate)})
	var calls []contract.Call
	var err error
	inActivity(t, &attempt{n: 2}, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		calls, err = h.Handle(ctx, in, raw)
	})
	return calls, err
}

func TestAHandlerGetsTheUpdateAsTelegramSentIt(t *testing.T) {
	t.Parallel()
	var got contract.Update
	calls, err := handling(t, silent, func(_ context.Context, u contract.Update) ([]contract.Call, error) {
		got = u
		return nil, nil
	})
	require.NoError(t, err)
	require.Empty(t, calls)
	require.Equal(t, contract.Update{
		ID: 9001, Kind: "message", ChatID: 1, UserID: 2, Raw: json.RawMessage(rawUpdate), ReceivedAt: received,
	}, got)
}

func TestWhatAHandlerReturnsIsSealed(t *testing.T) {
	t.Parallel()
	params := map[string]any{"chat_id": 5, "text": "a < b"}
	calls, err := handling(t, silent, func(context.Context, contract.Update) ([]contract.Call, error) {
		return []contract.Call{{Method: "sendMessage", Params: params, Key: "k"}, {Method: "getMe"}}, nil
	})
	require.NoError(t, err)
	require.Equal(t, []contract.Call{
		{Method: "sendMessage", Params: json.RawMessage(`{"chat_id":5,"text":"a < b"}`), Key: "k"},
		{Method: "getMe", Params: json.RawMessage(`{}`)},
	}, calls)
}

func TestEveryFailureOfAHandlerIsHandlerFailed(t *testing.T) {
	t.Parallel()
	returns := func(calls []contract.Call, err error) activities.Handler {
		return func(context.Context, contract.Update) ([]contract.Call, error) { return calls, err }
	}
	for name, c := range map[string]struct {
		handler activities.Handler
		text    string
	}{
		"error":         {returns(nil, errors.New("no such order, says TOKEN")), "no such order, says ***"},
		"error, calls":  {returns([]contract.Call{{Method: "getMe"}}, errors.New("half done")), "half done"},
		"chat 0":        {returns([]contract.Call{{Method: "sendMessage", Params: map[string]any{"chat_id": 0}}}, nil), "chat_id is 0"},
		"no method":     {returns([]contract.Call{{}}, nil), "no Bot API method name"},
		"params a list": {returns([]contract.Call{{Method: "sendMessage", Params: []int{1}}}, nil), "no JSON object"},
		"params a func": {returns([]contract.Call{{Method: "sendMessage", Params: func() {}}}, nil), "params"},
		"nil map": {func(context.Context, contract.Update) ([]contract.Call, error) {
			nilMap(nil)
			return nil, nil
		}, "handler panicked: assignment to entry in nil map"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls, err := handling(t, silent, c.handler)
			app := direct(t, err)
			require.Empty(t, calls)
			require.Equal(t, contract.FailureHandler, app.Type())
			require.False(t, app.NonRetryable(), "the caller decides how often")
			require.Equal(t, temporal.ApplicationErrorCategoryBenign, app.Category())
			require.Contains(t, app.Message(), c.text)
		})
	}
}

func TestAPanicLeavesItsStackWithoutSecrets(t *testing.T) {
	t.Parallel()
	_, err := handling(t, silent, func(context.Context, contract.Update) ([]contract.Call, error) { panicsWithTOKEN(); return nil, nil })
	var stack string
	app := direct(t, err)
	require.NoError(t, app.Details(&stack))
	require.Contains(t, stack, "panicsWith***")
	require.NotContains(t, stack+app.Message(), "TOKEN")
}

func nilMap(m map[string]int) { m["TOKEN"] = 1 }

func panicsWithTOKEN() { panic("TOKEN") }

func TestAHandlerThatNeverReturnsIsLetGoAtItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		start := time.Now()
		_, err := handling(t, silent, func(context.Context, contract.Update) ([]contract.Call, error) {
			<-release
			return nil, nil
		})
		require.Equal(t, time.Minute, time.Since(start))
		require.Equal(t, contract.FailureHandler, direct(t, err).Type())
		require.Contains(t, err.Error(), "did not return in time")
		close(release)
	})
}

func TestALongHandlerShowsThatItLives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &activities.Handling{Log: silent, Handler: func(context.Context, contract.Update) ([]contract.Call, error) {
			time.Sleep(16 * time.Second)
			return nil, nil
		}}
		a := &attempt{n: 1}
		inActivity(t, a, func(ctx context.Context) {
			_, err := h.Handle(ctx, contract.HandleInput{}, converter.NewRawValue(&commonpb.Payload{}))
			require.NoError(t, err)
		})
		require.Equal(t, 3, a.beats)
	})
}

func TestALoggedFailureHoldsNoText(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	_, err := handling(t, slog.New(slog.NewTextHandler(&out, nil)), func(context.Context, contract.Update) ([]contract.Call, error) {
		return nil, errors.New("cannot answer 'my secret'")
	})
	require.Error(t, err)
	require.Contains(t, out.String(), `msg="handler failed" update_id=9001 attempt=2`)
	require.NotContains(t, out.String(), "secret")
}

func TestTheTimeOfEachRunIsTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		takes time.Duration
		err   error
		ok    bool
		told  time.Duration
	}{
		"a result":            {3 * time.Second, nil, true, 3 * time.Second},
		"an error":            {3 * time.Second, errors.New("no"), false, 3 * time.Second},
		"beyond its time":     {5 * time.Minute, nil, false, time.Minute},
		"a run that is quick": {0, nil, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var runs []time.Duration
				var oks []bool
				h := &activities.Handling{
					Handler: func(context.Context, contract.Update) ([]contract.Call, error) {
						time.Sleep(c.takes)
						return nil, c.err
					},
					Redact: func(s string) string { return s }, Log: silent,
					Handled: func(d time.Duration, ok bool) { runs, oks = append(runs, d), append(oks, ok) },
				}
				inActivity(t, &attempt{n: 1}, func(ctx context.Context) {
					ctx, cancel := context.WithTimeout(ctx, time.Minute)
					defer cancel()
					_, err := h.Handle(ctx, contract.HandleInput{}, converter.NewRawValue(&commonpb.Payload{Data: []byte(rawUpdate)}))
					require.Equal(t, c.ok, err == nil)
				})
				require.Equal(t, []time.Duration{c.told}, runs)
				require.Equal(t, []bool{c.ok}, oks)
				time.Sleep(c.takes) // the handler that was let go ends as well
			})
		})
	}
}

func TestAnUpdateThatIsHandledTwiceRunsItsHandlerTwiceOnTheSameBytes(t *testing.T) {
	t.Parallel()
	var seen []contract.Update
	handler := func(_ context.Context, u contract.Update) ([]contract.Call, error) {
		seen = append(seen, u)
		return []contract.Call{{Method: "getMe"}}, nil
	}
	first, err := handling(t, silent, handler)
	require.NoError(t, err)
	again, err := handling(t, silent, handler)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Len(t, seen, 2)
	require.Equal(t, seen[0], seen[1])
}
