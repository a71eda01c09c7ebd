package limiter_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/worker/limiter"
)

// survives asks one call of each kind for a grant. Whatever the state says, they
// are heard within what Telegram could have asked for.
func survives(t *testing.T, state limiter.State) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter.Restore(limiter.DefaultConfig(), state)
		begin := time.Now()
		for _, req := range []limiter.Request{message(0), message(1), message(-1), edit(1), typing(1), contact(-1)} {
			for !heard(t, l, &req) {
				require.Less(t, time.Since(begin), 20*24*time.Hour)
			}
		}
		_, err := json.Marshal(l.State())
		require.NoError(t, err)
		<-time.After(20 * 24 * time.Hour)
		require.Zero(t, l.Stats().Chats)
		require.Empty(t, l.Stats().Learned)
	})
}

// heard asks once; false if the call has to come again.
func heard(t *testing.T, l *limiter.Limiter, req *limiter.Request) bool {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour) // a wait for the bot may be long
	defer cancel()
	g, err := l.Acquire(ctx, *req)
	if err == nil {
		g.Done()
		return true
	}
	if moved, ok := errors.AsType[*limiter.Moved](err); ok {
		require.NotEqual(t, req.Chat, moved.To)
		req.Chat = moved.To
		return false
	}
	if paced, ok := errors.AsType[*limiter.Paced](err); ok {
		<-time.After(paced.Delay)
		return false
	}
	if errors.Is(err, context.DeadlineExceeded) {
		until := l.Until(limiter.Scope{})
		require.Less(t, time.Until(until), 15*24*time.Hour)
		<-time.After(time.Until(until))
		return false
	}
	ended := errors.Is(err, limiter.ErrDropped) && req.Transient || errors.Is(err, limiter.ErrSuperseded) && req.Edits != ""
	require.True(t, ended, "%v", err)
	return true
}

// FuzzRestore asks whether any bytes that decode make a limiter that works.
func FuzzRestore(f *testing.F) {
	f.Add(`{}`)
	f.Add(`{"bot":{"sent":[{"at":"2000-01-01T00:00:00Z","n":999999999}],"next":"9999-01-01T00:00:00Z","lesson":{"share":1e-300,"since":"9999-01-01T00:00:00Z"}}}`)
	f.Add(`{"penalties":[{"until":"9999-01-01T00:00:00Z"},{"chat":1,"until":"9999-01-01T00:00:00Z","long":true,"refused":["sendMessage",""]},{"chat":1,"until":"2000-01-01T00:00:00Z"}]}`)
	f.Add(`{"penalties":[{"chat":1,"until":"2000-01-01T00:20:00Z","long":true,"refused":["sendMessage"]},{"chat":-1,"method":"sendMessage","until":"0001-01-01T00:00:00Z"}]}`)
	f.Add(`{"chats":[{"chat":-1,"sent":[{"at":"9999-01-01T00:00:00Z","n":-4},{"at":"1999-12-31T23:59:59Z","n":4}],"repaid":"9999-01-01T00:00:00Z"},{"chat":1,"lesson":{"share":-1,"since":"0001-01-01T00:00:00Z"}},{"chat":0},{"chat":1}]}`)
	f.Add(`{"moves":[{"from":1,"to":2,"until":"9999-01-01T00:00:00Z"},{"from":2,"to":1,"until":"9999-01-01T00:00:00Z"},{"from":1,"to":1,"until":"9999-01-01T00:00:00Z"}]}`)
	f.Add(`{"moves":[{"from":1,"to":2,"until":"2001-01-01T00:00:00Z"},{"from":2,"to":3,"until":"2001-01-01T00:00:00Z"},{"from":1,"to":3,"until":"2001-01-01T00:00:00Z"},{"from":3,"to":1,"until":"2001-01-01T00:00:00Z"}]}`)
	f.Add(`{"edits":[{"chat":1,"edits":"editMessageText/17","newest":"9999-01-01T00:00:00Z","until":"9999-01-01T00:00:00Z"},{"chat":1,"edits":"editMessageText/17","newest":"2000-01-01T00:00:01Z","until":"9999-01-01T00:00:00Z"},{"edits":"x"}]}`)
	f.Fuzz(func(t *testing.T, raw string) {
		var state limiter.State
		if json.Unmarshal([]byte(raw), &state) == nil {
			survives(t, state)
		}
	})
}
