package cli_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/cli"
	"github.com/durabot/durabot/internal/telegram"
)

// road answers requests without a network, so that a minute of waiting takes none.
type road func() (*http.Response, error)

// RoundTrip answers.
func (r road) RoundTrip(*http.Request) (*http.Response, error) { return r() }

func answer(status int, body string) (*http.Response, error) {
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)),
	}, nil
}

func refusal() (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
}

func contact(ctx context.Context, t *testing.T, r road) (telegram.User, error) {
	t.Helper()
	token, err := telegram.ParseToken(someToken)
	require.NoError(t, err)
	api, err := telegram.New(telegram.Options{Token: token, Transport: r})
	require.NoError(t, err)
	return cli.FirstContact(ctx, api, slog.New(slog.DiscardHandler))
}

func TestTelegramThatComesLateIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		me, err := contact(t.Context(), t, func() (*http.Response, error) {
			if time.Since(began) < 20*time.Second {
				return refusal()
			}
			return answer(200, `{"ok":true,"result":{"id":123456789,"username":"late_bot"}}`)
		})
		require.NoError(t, err)
		require.Equal(t, "late_bot", me.Username)
	})
}

func TestTelegramThatNeverAnswersEndsTheStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := contact(t.Context(), t, refusal)
		require.ErrorContains(t, err, "TELEGRAM_API_URL: no answer from the Bot API for 30s")
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		require.Less(t, time.Since(began), time.Minute)
	})
}

func TestTokenThatTelegramRefusesEndsTheStartAtOnce(t *testing.T) {
	t.Parallel()
	for _, status := range []string{`{"ok":false,"error_code":401,"description":"Unauthorized"}`, `{"ok":false,"error_code":404,"description":"Not Found"}`} {
		asked := 0
		_, err := contact(t.Context(), t, func() (*http.Response, error) {
			asked++
			return answer(401, status)
		})
		require.ErrorContains(t, err, "TELEGRAM_BOT_TOKEN: Telegram refuses this token")
		require.NotContains(t, err.Error(), "SECRET")
		require.Equal(t, 1, asked)
	}
}

func TestInterruptEndsTheWaitForTelegram(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err := contact(ctx, t, refusal)
		require.NoError(t, err)
	})
}

func TestBotWaitsForTemporalAndEndsWhenAsked(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
	defer cancel()
	c := run(ctx, map[string]string{"TELEGRAM_BOT_TOKEN": someToken, "TEMPORAL_ADDRESS": "127.0.0.1:1"}, "run", "--http", "127.0.0.1:0")
	require.Zero(t, c.code, c.errout)
	require.Contains(t, c.errout, "no answer from Temporal at 127.0.0.1:1: start it or set TEMPORAL_ADDRESS")
	require.Equal(t, 1, bytes.Count([]byte(c.errout), []byte("waiting for Temporal")), "it is told once in ten seconds")
}

func TestAPenaltyOnTheFirstContactIsKeptToTheSecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, requests := time.Now(), 0
		_, err := contact(t.Context(), t, func() (*http.Response, error) {
			requests++
			if time.Since(began) < 600*time.Second {
				return answer(429, `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 600","parameters":{"retry_after":600}}`)
			}
			return answer(200, `{"ok":true,"result":{"id":123456789,"username":"late_bot"}}`)
		})
		require.NoError(t, err)
		require.Equal(t, 2, requests)
	})
}
