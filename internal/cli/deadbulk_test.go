package cli_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot"
	"github.com/durabot/durabot/internal/cli"
	"github.com/durabot/durabot/internal/contract"
)

// many are letters of every kind that a filter has to tell apart.
func many() *morgue {
	late := letter("late", "1", 1, contract.ReasonRejected)
	late.Deadline = died
	busy := letter("busy", "1", 2, contract.ReasonRejected)
	busy.Replaying = true
	m := newMorgue(
		late, busy, letter("perhaps", "1", 3, contract.ReasonUncertain), letter("large", "1", 4, contract.ReasonTooLarge),
		letter("blocked", "2", 5, contract.ReasonRejected), letter("blocked2", "2", 6, contract.ReasonRejected),
		letter("third", "1", 9, contract.ReasonRejected), letter("first", "1", 7, contract.ReasonRejected), letter("second", "1", 8, contract.ReasonRejected),
		letter("other", "3", 8, contract.ReasonRejected), letter("alone", "", 8, contract.ReasonRejected), letter("lone", "", 9, contract.ReasonRejected),
	)
	m.slow["dead/7/message/busy"] = 1000
	m.chats["chat/7/2"] = contract.ChatState{ChatID: 2, Closed: &contract.ChatClosed{Why: "blocked"}}
	m.chats["chat/7/3"] = contract.ChatState{ChatID: 3, Moved: &contract.ChatMoved{To: 4}}
	return m
}

func TestAFilterSkipsWhatIsOfNoUseAndKeepsEachChatsOrder(t *testing.T) {
	t.Parallel()
	m := many()
	c := ask(t, m, "dead", "replay", "--every", "--yes")
	require.Zero(t, c.code, c.errout)
	require.Equal(t, "6 dead letters: 6 rejected; skipped: 2 closed chats, 1 too late, 1 may have arrived, 1 too large, 1 being replayed\n", c.errout)
	require.Equal(t, "replaying 6; skipped: 2 closed chats, 1 too late, 1 may have arrived, 1 too large, 1 being replayed\n", c.out)
	require.Equal(t, []string{"message/first", "message/second", "message/third"}, m.of("message/first", "message/second", "message/third"))
	after := map[string]string{}
	for _, r := range m.replays {
		after[r.letter] = r.After
	}
	require.Equal(t, map[string]string{
		"message/first": "dead/7/message/busy", "message/second": "dead/7/message/first", "message/third": "dead/7/message/second",
		"message/other": "", "message/alone": "", "message/lone": "",
	}, after, "what is under way already is gone behind, and nobody waits for another chat")
}

func TestWhatAFilterSkipsCanBeAskedFor(t *testing.T) {
	t.Parallel()
	m := many()
	a, _ := act(t, m, "replay", "--chat", "1", "--yes", "--allow-duplicate", "--ttl", "1h")
	require.Equal(t, 5, a.Replaying)
	require.Equal(t, map[string]int{"too_large": 1, "replaying": 1}, a.Skipped)
	require.Zero(t, ask(t, m, "dead", "replay", "message/blocked").code, "named by its id it is tried")
	a, _ = act(t, many(), "replay", "--died-of", "rejected", "--limit", "2", "--yes")
	require.Equal(t, 2, a.Replaying)
}

func TestNothingFoundIsNoFailure(t *testing.T) {
	t.Parallel()
	c := ask(t, newMorgue(), "dead", "replay", "--died-of", "rejected", "--yes")
	require.Zero(t, c.code)
	require.Equal(t, "replaying 0\n", c.out)
	a, _ := act(t, newMorgue(), "discard", "--every", "--yes")
	require.NotNil(t, a.Skipped)
	require.NotNil(t, a.Refused)
}

func TestOnlyAYesIsAYes(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]int{"y\n": 1, "Yes\n": 1, "yes": 1, "n\n": 0, "\n": 0, "": 0, "yep\n": 0} {
		m := newMorgue(few()...)
		var out, errout screen
		code := cli.Program{
			Handler: durabot.Echo, Args: []string{"dead", "replay", "--chat", "1001", "--died-of", "rejected"}, Stdin: typed{strings.NewReader(answer)},
			Stdout: &out, Stderr: &errout, Env: environment(serve(t, m)),
		}.Run(t.Context())
		require.Len(t, m.replays, want, answer)
		require.Contains(t, errout.String(), "1 dead letter: 1 rejected\nreplay 1 dead letter? [y/N] ")
		require.Equal(t, 1-want, code)
		require.Equal(t, want == 0, strings.Contains(errout.String(), "durabot: nothing was done\n"))
	}
}

func TestAnAnswerThatCannotBeReadIsNone(t *testing.T) {
	t.Parallel()
	m := newMorgue(few()...)
	var out, errout screen
	code := cli.Program{
		Handler: durabot.Echo, Args: []string{"dead", "discard", "--every"}, Stdin: typed{iotest.ErrReader(context.DeadlineExceeded)},
		Stdout: &out, Stderr: &errout, Env: environment(serve(t, m)),
	}.Run(t.Context())
	require.Equal(t, 1, code)
	require.Empty(t, m.discards)
}

func environment(address string) func(string) (string, bool) {
	env := map[string]string{"TEMPORAL_ADDRESS": address, "DURABOT_BOT": "7"}
	return func(name string) (string, bool) { v, ok := env[name]; return v, ok }
}

func TestWithNobodyToAskABulkVerbNeedsYes(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"dead", "replay", "--every"}, {"dead", "discard", "--chat", "1"}, {"chat", "erase", "1"}} {
		m := many()
		c := ask(t, m, args...)
		require.Equal(t, 2, c.code)
		require.Equal(t, "durabot: nobody is there to be asked: give --yes\n", c.errout)
		require.Empty(t, m.replays)
		require.Empty(t, m.discards)
	}
}

func TestHoweverLettersAreMixedNoChatIsReplayedOutOfOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		var letters []contract.DeadState
		for i, chat := range rapid.SliceOfN(rapid.SampledFrom([]string{"1", "2", "3"}), 1, 30).Draw(r, "chats") {
			letters = append(letters, letter(strconv.Itoa(i), chat, rapid.IntRange(0, 20).Draw(r, "second"), contract.ReasonRejected))
		}
		m := newMorgue(letters...)
		require.Zero(r, ask(t, m, "dead", "replay", "--every", "--yes").code)
		require.Len(r, m.replays, len(letters))
		last := map[string]*contract.DeadState{}
		for _, replay := range m.replays {
			l := m.letters[contract.DeadID(7, replay.letter)]
			before := last[l.ChatID]
			if before == nil {
				require.Empty(r, replay.After)
			} else {
				require.Equal(r, contract.DeadID(7, before.ID()), replay.After)
				require.False(r, l.AcceptedAt.Before(before.AcceptedAt))
			}
			last[l.ChatID] = l
		}
	})
}

func TestWhatSomebodyElseIsAtIsSkippedByAFilterAndRefusedByName(t *testing.T) {
	t.Parallel()
	m := newMorgue(few()...)
	m.faster = map[string]string{"dead/7/message/b": contract.RefusedReplaying, "dead/7/message/nobody": contract.RefusedClosed}
	a, c := act(t, m, "replay", "--died-of", "rejected", "--yes")
	require.Zero(t, c.code, c.errout)
	require.Equal(t, map[string]int{"replaying": 1, "ended": 1}, a.Skipped)
	a, c = act(t, m, "replay", "message/b", "message/nobody")
	require.Equal(t, 1, c.code)
	require.Len(t, a.Refused, 2)
}

func TestOfTwoPeopleAtOnceTheSecondKeepsTheOrderOfTheFirst(t *testing.T) {
	t.Parallel()
	m := newMorgue(letter("first", "1", 1, contract.ReasonRejected), letter("second", "1", 2, contract.ReasonRejected))
	m.faster = map[string]string{"dead/7/message/first": contract.RefusedReplaying}
	a, _ := act(t, m, "replay", "--every", "--yes")
	require.Equal(t, 1, a.Replaying)
	require.Equal(t, "dead/7/message/first", m.replays[0].After)
}

func TestNobodyWaitsForWhatWasAcceptedLater(t *testing.T) {
	t.Parallel()
	busy := letter("busy", "1", 9, contract.ReasonRejected)
	busy.Replaying = true
	m := newMorgue(busy, letter("first", "1", 1, contract.ReasonRejected))
	act(t, m, "replay", "--every", "--yes")
	require.Empty(t, m.replays[0].After)
}
