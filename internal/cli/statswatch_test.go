package cli_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot"
	"github.com/durabot/durabot/internal/cli"
	"github.com/durabot/durabot/internal/contract"
)

// watching runs stats --watch on the stream until it has been shown what is
// waited for, and returns the exit code.
func watching(t *testing.T, o *office, out interface {
	Write(p []byte) (int, error)
	String() string
}, shown func(text string) bool, args ...string,
) int {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan int, 1)
	address := serve(t, o)
	go func() {
		var errout safeBuffer
		ended <- cli.Program{
			Handler: durabot.Echo, Args: append([]string{"stats", "--watch", "--interval", "100ms"}, args...), Stdout: out, Stderr: &errout,
			Env: environment(address),
		}.Run(ctx)
	}()
	require.Eventually(t, func() bool { return shown(out.String()) }, patience, 10*time.Millisecond)
	stop()
	return <-ended
}

func TestWatchShowsTheNumbersInPlaceUntilItIsInterrupted(t *testing.T) {
	t.Parallel()
	var out screen
	const fresh = "\x1b[H\x1b[J"
	code := watching(t, onDuty(contract.Figures{}), &out, func(text string) bool { return strings.Count(text, fresh) >= 3 })
	require.Zero(t, code)
	pictures := strings.Split(out.String(), fresh)
	require.Empty(t, pictures[0])
	require.Regexp(t, `^at           \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\non duty      12433@bot-1@`, pictures[1])
}

func TestWatchIntoAFileIsOneBlockBelowTheOther(t *testing.T) {
	t.Parallel()
	var out safeBuffer
	require.Zero(t, watching(t, onDuty(contract.Figures{}), &out, func(text string) bool { return strings.Count(text, "\n\nat ") >= 2 }))
	require.NotContains(t, out.String(), "\x1b")
	var scripts safeBuffer
	require.Zero(t, watching(t, onDuty(contract.Figures{}), &scripts, func(text string) bool { return strings.Count(text, "\n}\n{") >= 2 }, "-o", "json"))
}

func TestWatchKeepsTheLastNumbersWhileTemporalIsAway(t *testing.T) {
	t.Parallel()
	o := onDuty(contract.Figures{})
	var out safeBuffer
	asked := false
	code := watching(t, o, &out, func(text string) bool {
		if !asked && strings.Contains(text, "on duty      12433@bot-1@") {
			asked = true
			o.leave()
		}
		return strings.Contains(text, "no answer from Temporal for ")
	})
	require.Zero(t, code)
	blocks := strings.Split(strings.TrimSpace(out.String()), "\n\n")
	last := blocks[len(blocks)-1]
	require.Contains(t, last, "no answer from Temporal for ")
	require.Contains(t, last, "on duty      12433@bot-1@")
}

func (o *office) leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.away = true
}

func TestWatchDoesNotAskWithoutAPause(t *testing.T) {
	t.Parallel()
	c := ask(t, newOffice(), "stats", "--watch", "--interval", "1ms")
	require.Equal(t, 2, c.code)
	require.Equal(t, "durabot: --interval: want 100ms or more, got 1ms\n", c.errout)
}
