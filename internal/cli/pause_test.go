package cli_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
)

func TestAPauseIsAcknowledgedByTheHolder(t *testing.T) {
	t.Parallel()
	o := onDuty(contract.Figures{})
	c := ask(t, o, "pause", "--reason", "maintenance")
	require.Zero(t, c.code, c.errout)
	require.Equal(t, "paused: nothing is sent\n", c.out)
	require.Equal(t, "maintenance", o.paused[0].Reason)
	require.Regexp(t, `^.+@.+$`, o.paused[0].By)
	require.WithinDuration(t, time.Now(), o.paused[0].At, time.Minute)
	require.Regexp(t, `(?m)^sending      paused for \S+ by .+@.+: maintenance$`, ask(t, o, "stats").out)

	c = ask(t, o, "resume", "-o", "json")
	require.JSONEq(t, `{"paused":null,"in_force":true,"holder":"12433@bot-1@"}`, c.out)
	require.Equal(t, "resumed: calls are sent again\n", ask(t, o, "resume", "--reason", "done").out, "again is no error")
}

func TestAPauseWithoutAHolderIsKeptForTheNextOne(t *testing.T) {
	t.Parallel()
	o := newOffice()
	began := time.Now()
	require.Equal(t, "accepted: takes effect when a process is on duty\n", ask(t, o, "pause", "--reason", "maintenance").out)
	require.Less(t, time.Since(began), 5*time.Second, "nobody is waited for")
	require.Equal(t, "maintenance", o.pause.Reason)
}

func TestAHolderThatDoesNotAnswerIsNamed(t *testing.T) {
	t.Parallel()
	o := onDuty(contract.Figures{})
	o.deaf = true
	c := ask(t, o, "pause", "--reason", "maintenance")
	require.Zero(t, c.code, "it is accepted all the same")
	require.Equal(t, "accepted: 12433@bot-1@ has not confirmed it yet: see `durabot stats`\n", c.out)
}

func TestABotThatNeverRanCannotBePaused(t *testing.T) {
	t.Parallel()
	o := newOffice()
	o.closed = true
	for _, args := range [][]string{{"pause", "--reason", "x"}, {"resume"}} {
		c := ask(t, o, args...)
		require.Equal(t, 1, c.code)
		require.Equal(t, "durabot: bot 7 has no duty to "+args[0]+": start it with `durabot run` first\n", c.errout)
	}
}
