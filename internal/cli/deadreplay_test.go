package cli_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
)

// acting is what scripts read of a replay or a discard.
type acting struct {
	Replaying, Discarded, Delivered int
	Skipped                         map[string]int
	Refused, Dead                   []struct{ ID, Why string }
}

func act(t *testing.T, m *morgue, args ...string) (acting, console) {
	t.Helper()
	c := ask(t, m, append([]string{"dead", "-o", "json"}, args...)...)
	var a acting
	require.NoError(t, json.Unmarshal([]byte(c.out), &a), c.errout)
	return a, c
}

func TestReplayOfOneSaysWhoAsksAndWhy(t *testing.T) {
	t.Parallel()
	m := newMorgue(few()...)
	c := ask(t, m, "dead", "replay", "message/b", "--reason", "the buttons are mended", "--edit", `{"text":"mended"}`, "--ttl", "1h")
	require.Zero(t, c.code, c.errout)
	require.Equal(t, "replaying 1\n", c.out)
	require.Len(t, m.replays, 1)
	r := m.replays[0]
	require.Regexp(t, `^.+@.+$`, r.By)
	require.Equal(t, "the buttons are mended", r.Reason)
	require.JSONEq(t, `{"text":"mended"}`, string(r.Edit))
	require.Equal(t, time.Hour, r.TTL)
	require.Empty(t, r.After)
}

func TestReplayingTwiceSendsOnceAndTheSecondIsTold(t *testing.T) {
	t.Parallel()
	m := newMorgue(few()...)
	m.slow["dead/7/message/b"] = 100
	require.Zero(t, ask(t, m, "dead", "replay", "message/b").code)
	c := ask(t, m, "dead", "replay", "message/b")
	require.Equal(t, 1, c.code)
	require.Empty(t, c.out)
	require.Equal(t, "durabot: message/b: a replay by ann@desk is under way: see `durabot dead show message/b`\n", c.errout)
	m.slow["dead/7/message/b"] = 0
	c = ask(t, m, "dead", "replay", "message/b", "message/b")
	require.Equal(t, 1, c.code)
	require.Regexp(t, `^durabot: message/b: already replayed by \S+@\S+ at \S+ \S+\n$`, c.errout)
	require.Len(t, m.replays, 1)
}

func TestARefusalSaysWhatToDo(t *testing.T) {
	t.Parallel()
	late := letter("late", "1", 0, contract.ReasonGaveUp)
	late.Deadline = died.Add(time.Hour)
	m := newMorgue(letter("perhaps", "1", 0, contract.ReasonUncertain), late, letter("large", "1", 0, contract.ReasonTooLarge))
	at := late.Deadline.Local().Format("2006-01-02 15:04:05")
	for id, want := range map[string]string{
		"message/perhaps": "it may have arrived: --allow-duplicate sends it all the same",
		"message/late":    "it is too late for it since " + at + ": --ttl 1h gives it an hour from now",
		"message/large":   "too little was kept to try again: discard it",
	} {
		c := ask(t, m, "dead", "replay", id)
		require.Equal(t, 1, c.code)
		require.Equal(t, "durabot: "+id+": "+want+"\n", c.errout)
	}
	require.Empty(t, m.replays)
	a, c := act(t, m, "replay", "message/perhaps", "message/late", "--ttl", "1h")
	require.Equal(t, 1, c.code)
	require.Equal(t, "durabot: 1 of 2 were refused\n", c.errout)
	require.Equal(t, 1, a.Replaying)
	require.Equal(t, "message/perhaps", a.Refused[0].ID)
}

func TestWaitFollowsEachReplayToItsEnd(t *testing.T) {
	t.Parallel()
	m := newMorgue(few()...)
	m.slow["dead/7/message/b"] = 3
	c := ask(t, m, "dead", "replay", "message/b", "--wait")
	require.Zero(t, c.code, c.errout)
	require.Equal(t, "replaying 1\ndelivered 1; still dead: 0\n", c.out)

	m = newMorgue(few()...)
	m.stubborn["dead/7/message/b"] = true
	a, c := act(t, m, "replay", "--died-of", "rejected", "--yes", "--wait")
	require.Equal(t, 1, c.code)
	require.Contains(t, c.errout, "durabot: 1 of 2 were not delivered\n")
	require.Equal(t, 1, a.Delivered)
	require.Equal(t, "message/b", a.Dead[0].ID)
	require.Equal(t, "rejected: Bad Request: again", a.Dead[0].Why)
}

func TestAnInterruptEndsTheWaitAndNotTheReplay(t *testing.T) {
	t.Parallel()
	m := newMorgue(few()...)
	m.slow["dead/7/message/b"] = 1 << 30
	ctx, stop := context.WithCancel(t.Context())
	address := serve(t, m)
	go func() {
		defer stop()
		for m.looked("dead/7/message/b") < 3 && ctx.Err() == nil {
			<-time.After(5 * time.Millisecond)
		}
	}()
	c := run(ctx, map[string]string{"TEMPORAL_ADDRESS": address, "DURABOT_BOT": "7"}, "dead", "replay", "message/b", "--wait")
	require.Equal(t, 1, c.code)
	require.Contains(t, c.errout, "durabot: interrupted: 1 of 1 have answered, and what they accepted goes on; the same command does the rest\n")
	require.Len(t, m.replays, 1)
}

func TestABotThatNobodyRunsIsToldInTenSeconds(t *testing.T) {
	t.Parallel()
	m := many()
	m.deaf = true
	began := time.Now()
	c := ask(t, m, "dead", "replay", "--every", "--yes")
	require.Equal(t, 1, c.code)
	require.Contains(t, c.errout, "no process runs the bot's workflows: start `durabot run`; it may be taken later\n")
	require.Less(t, time.Since(began), 15*time.Second, "once, not for each letter")
}

func TestDiscardGivesUpAndSaysWho(t *testing.T) {
	t.Parallel()
	m := many()
	c := ask(t, m, "dead", "discard", "--chat", "2", "--reason", "gone", "--yes")
	require.Zero(t, c.code, c.errout)
	require.Equal(t, "discarding 2\n", c.out)
	require.Equal(t, "gone", m.discards["dead/7/message/blocked"].Reason)
	require.Regexp(t, `^.+@.+$`, m.discards["dead/7/message/blocked2"].By)
	c = ask(t, m, "dead", "discard", "message/blocked")
	require.Equal(t, 1, c.code)
	require.Regexp(t, `^durabot: message/blocked: already discarded by \S+@\S+ at \S+ \S+: gone\n$`, c.errout)
	a, _ := act(t, m, "discard", "--every", "--yes")
	require.Equal(t, map[string]int{"replaying": 1}, a.Skipped)
	require.Equal(t, 9, a.Discarded)
}

func TestATemporalThatGoesAwayIsNotTakenForABotThatNobodyRuns(t *testing.T) {
	t.Parallel()
	m := newMorgue(few()...)
	m.gone = true
	c := ask(t, m, "dead", "replay", "message/b")
	require.Equal(t, 1, c.code)
	require.Contains(t, c.errout, "durabot: no answer from Temporal at 127.0.0.1:")
}

func TestWaitDoesNotTakeWhatALetterShowedBeforeForItsEnd(t *testing.T) {
	t.Parallel()
	m := newMorgue(few()...)
	m.lag["dead/7/message/b"] = 3
	c := ask(t, m, "dead", "replay", "message/b", "--wait")
	require.Zero(t, c.code, c.errout)
	require.Equal(t, "replaying 1\ndelivered 1; still dead: 0\n", c.out)
}
