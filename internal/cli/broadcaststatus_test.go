package cli_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot"
	"github.com/durabot/durabot/internal/cli"
	"github.com/durabot/durabot/internal/contract"
)

func TestStatusShowsHowFarItHasCome(t *testing.T) {
	t.Parallel()
	s := mixed(t)
	c := ask(t, s, "broadcast", "status", "sale")
	require.Zero(t, c.code, c.errout)
	for _, line := range []string{
		`broadcast sale: sendMessage to 4 chats`,
		`  state     done`,
		`  progress  █{30} 100 %, 4 of 4`,
		`  outcomes  1 delivered, 1 rejected, 1 uncertain, 1 unreachable; 1 POSSIBLE DUPLICATE`,
		`  ended     \d{4}-\d\d-\d\d \d\d:\d\d:\d\d`,
		`  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d  start by .+@.+`,
	} {
		require.Regexp(t, `(?m)^`+line+`$`, c.out)
	}
	require.NotContains(t, c.out, "  ends ")
	got, _ := answered[map[string]any](t, s, "broadcast", "status", "sale")
	require.Equal(t, "done", got["state"])
}

func TestAPausedBroadcastSaysWhoPausedItAndWhy(t *testing.T) {
	t.Parallel()
	s := newStation()
	started(t, s, "sale", []string{"1"})
	run := s.runs["broadcast/7/sale"]
	s.hear(run, contract.BroadcastOrder{What: contract.BroadcastPause, By: contract.ByDurabot, Reason: "20 rejections in a row", At: then})
	c := ask(t, s, "broadcast", "status", "sale")
	require.Contains(t, c.out, "\n  state     paused by durabot: 20 rejections in a row\n")
	require.Contains(t, c.out, "  pause by durabot: 20 rejections in a row\n")
}

func TestAListIsOfAllBroadcastsTheNewestFirst(t *testing.T) {
	t.Parallel()
	s := mixed(t)
	started(t, s, "later", []string{"1"}, "--in", "1h")
	c := ask(t, s, "broadcast", "list")
	require.Zero(t, c.code, c.errout)
	require.Regexp(t, `^NAME +STATE +CHATS +METHOD +ACCEPTED +DUE +ENDED\nlater +scheduled +1 +sendMessage +\S+ \S+ +\S+ \S+ +-\nsale +done +4 +sendMessage .*\n$`, c.out)
	require.Equal(t, "[]\n", ask(t, newStation(), "broadcast", "list", "-o", "json").out)
}

// meanwhile runs a verb while a test goes on, and sends what became of it.
func meanwhile(t *testing.T, s service, args ...string) <-chan console {
	t.Helper()
	env := map[string]string{"TEMPORAL_ADDRESS": serve(t, s), "DURABOT_BOT": "7"}
	done := make(chan console, 1)
	go func() { done <- run(t.Context(), env, args...) }()
	return done
}

func TestAWatchEndsWithTheBroadcast(t *testing.T) {
	t.Parallel()
	s := newStation()
	started(t, s, "sale", []string{"1"})
	done := meanwhile(t, s, "broadcast", "status", "sale", "--watch", "--every", "100ms")
	s.end(t, "sale", contract.BroadcastDone, delivered("1"))
	c := <-done
	require.Zero(t, c.code, c.errout)
	require.Contains(t, c.out, "  state     done\n")
}

func TestAWaitEndsWithTheBroadcast(t *testing.T) {
	t.Parallel()
	for phase, code := range map[contract.BroadcastPhase]int{contract.BroadcastDone: 0, contract.BroadcastCancelled: 1} {
		s := newStation()
		started(t, s, "sale", []string{"1"})
		done := meanwhile(t, s, "broadcast", "start", "sale", "--audience", audienceOf(t, "1"), "--text", "SECRET", "--yes", "--wait")
		s.end(t, "sale", phase, delivered("1"))
		c := <-done
		require.Equal(t, code, c.code, c.errout)
		require.Contains(t, c.out, "sale is "+string(phase)+": 1 of 1 recipient, 1 delivered\n")
	}
}

func TestAWaitSaysThatTheBroadcastStandsStill(t *testing.T) {
	t.Parallel()
	s := newStation()
	started(t, s, "sale", []string{"1"})
	s.hear(s.runs["broadcast/7/sale"], contract.BroadcastOrder{What: contract.BroadcastPause, By: contract.ByDurabot, Reason: "20 rejections", At: then})
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var out, errout safeBuffer
	program := cli.Program{
		Handler: durabot.Echo, Args: []string{"broadcast", "start", "sale", "--audience", audienceOf(t, "1"), "--text", "SECRET", "--yes", "--wait"},
		Stdout: &out, Stderr: &errout, Env: environment(serve(t, s)),
	}
	code := make(chan int, 1)
	go func() { code <- program.Run(ctx) }()
	require.Eventually(t, func() bool {
		return strings.Contains(errout.String(), "durabot: broadcast sale is paused by durabot: 20 rejections: take that back with `durabot broadcast resume sale`\n")
	}, patience, 20*time.Millisecond)
	interrupt()
	require.Equal(t, 1, <-code)
	require.Contains(t, errout.String(), "durabot: no longer waiting: broadcast sale is accepted and goes on\n")
}

func TestWhatIsShownOfAMessageIsShort(t *testing.T) {
	t.Parallel()
	call := func(params string) contract.BroadcastCall {
		return contract.BroadcastCall{Call: contract.Call{Method: "sendMessage", Params: json.RawMessage(params)}}
	}
	require.Equal(t, "a\nb", cli.SaysTo(call(`{"text":"a\nb\u0007"}`)))
	require.Equal(t, "c", cli.SaysTo(call(`{"photo":"x","caption":"c"}`)))
	require.Empty(t, cli.SaysTo(call(`{"sticker":"x"}`)))
	require.Equal(t, strings.Repeat("é", 600)+"…", cli.SaysTo(call(`{"text":"`+strings.Repeat("é", 601)+`"}`)))
	require.Equal(t, strings.Repeat("l\n", 12)+"…", cli.SaysTo(call(`{"text":"`+strings.Repeat(`l\n`, 20)+`"}`)))
}
