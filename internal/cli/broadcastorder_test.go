package cli_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot"
	"github.com/durabot/durabot/internal/cli"
	"github.com/durabot/durabot/internal/contract"
)

// orderly is the answer of `broadcast pause`, `resume` and `cancel`.
type orderly struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Changed bool   `json:"changed"`
	InForce bool   `json:"in_force"`
}

func TestAnOrderIsAnsweredWhenTheBroadcastShowsIt(t *testing.T) {
	t.Parallel()
	s := newStation()
	started(t, s, "sale", []string{"1", "2"})
	for _, row := range []struct {
		args []string
		want orderly
		text string
	}{
		{[]string{"resume", "sale"}, orderly{"sale", "running", false, true}, "sale is running already\n"},
		{[]string{"pause", "sale", "--reason", "a mistake"}, orderly{"sale", "paused", true, true}, ""},
		{[]string{"pause", "sale", "--reason", "a mistake"}, orderly{"sale", "paused", false, true}, "sale is paused already\n"},
		{[]string{"resume", "sale"}, orderly{"sale", "running", true, true}, ""},
		{[]string{"cancel", "sale", "--reason", "no more", "--yes"}, orderly{"sale", "cancelled", true, true}, ""},
		{[]string{"cancel", "sale", "--reason", "no more", "--yes"}, orderly{"sale", "cancelled", false, true}, "sale is cancelled already\n"},
	} {
		got, c := answered[orderly](t, s, append([]string{"broadcast"}, row.args...)...)
		require.Zero(t, c.code, c.errout)
		require.Equal(t, row.want, got)
		if row.text != "" {
			require.Equal(t, row.text, ask(t, s, append([]string{"broadcast"}, row.args...)...).out)
		}
	}
	require.Len(t, s.orders, 3, "what stands so already is not ordered")
	require.Equal(t, "a mistake", s.orders[0].Reason)
	require.Regexp(t, `^.+@.+$`, s.orders[0].By)
}

func TestAnOrderSaysWhatItDid(t *testing.T) {
	t.Parallel()
	s := newStation()
	started(t, s, "sale", []string{"1"})
	require.Equal(t, "sale is paused: nothing more of it is sent; requests that have left are awaited\n",
		ask(t, s, "broadcast", "pause", "sale", "--reason", "x").out)
	require.Equal(t, "sale is running again\n", ask(t, s, "broadcast", "resume", "sale").out)
	require.Equal(t, "sale is cancelled: who has not got it does not get it; requests that have left are awaited\n",
		ask(t, s, "broadcast", "cancel", "sale", "--reason", "x", "--yes").out)
}

func TestAnEndedBroadcastTakesNoOrderButTheOneItFollowed(t *testing.T) {
	t.Parallel()
	s := newStation()
	started(t, s, "done", []string{"1"})
	s.end(t, "done", contract.BroadcastDone, delivered("1"))
	started(t, s, "cancelled", []string{"1"})
	s.end(t, "cancelled", contract.BroadcastCancelled, ended("1", contract.NotSent, ""))
	for _, name := range []string{"done", "cancelled"} {
		for _, args := range [][]string{{"pause", name, "--reason", "x"}, {"resume", name}} {
			c := ask(t, s, append([]string{"broadcast"}, args...)...)
			require.Equal(t, 1, c.code)
			require.Equal(t, "durabot: broadcast "+name+": too late to "+args[0]+": it is "+name+": see `durabot broadcast status "+name+"`\n", c.errout)
			require.Empty(t, c.out)
		}
	}
	require.Equal(t, 1, ask(t, s, "broadcast", "cancel", "done", "--reason", "x", "--yes").code)
	require.Zero(t, ask(t, s, "broadcast", "cancel", "cancelled", "--reason", "x", "--yes").code)
	require.Empty(t, s.orders)
}

func TestAnOrderThatNoProcessTakesUpIsKept(t *testing.T) {
	t.Parallel()
	s := newStation()
	s.deaf = true
	started(t, s, "sale", []string{"1"})
	got, c := answered[orderly](t, s, "broadcast", "pause", "sale", "--reason", "x")
	require.Equal(t, 1, c.code)
	require.Equal(t, orderly{"sale", "running", true, false}, got)
	require.Equal(t, "durabot: broadcast sale: accepted; no process runs the bot's workflows: it takes effect when one does\n", c.errout)
	require.Len(t, s.orders, 1)
}

func TestACancelSaysHowManyDoNotGetItAndAsks(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]int{"y\n": 1, "\n": 0} {
		s := newStation()
		started(t, s, "sale", []string{"1", "2"})
		var out, errout screen
		code := cli.Program{
			Handler: durabot.Echo, Args: []string{"broadcast", "cancel", "sale", "--reason", "x"}, Stdin: typed{strings.NewReader(answer)},
			Stdout: &out, Stderr: &errout, Env: environment(serve(t, s)),
		}.Run(t.Context())
		require.Equal(t, 1-want, code)
		require.Len(t, s.orders, want)
		require.Contains(t, errout.String(), "broadcast sale: 2 of 2 recipients without an outcome\ncancel? [y/N] ")
	}
}

func TestAHalfStartedBroadcastCanOnlyBeCancelled(t *testing.T) {
	t.Parallel()
	s := newStation()
	s.refuse = 1
	require.Equal(t, 1, ask(t, s, "broadcast", "start", "sale", "--audience", audienceOf(t, "1"), "--text", "SECRET", "--yes").code)
	for _, args := range [][]string{{"status", "sale"}, {"report", "sale"}, {"pause", "sale", "--reason", "x"}} {
		c := ask(t, s, append([]string{"broadcast"}, args...)...)
		require.Equal(t, 1, c.code)
		require.Equal(t, "durabot: broadcast sale is half started, and nothing of it is sent: give the same `durabot broadcast start` again, or cancel it\n", c.errout)
	}
	c := ask(t, s, "broadcast", "cancel", "sale", "--reason", "x", "--yes")
	require.Zero(t, c.code, c.errout)
	require.Equal(t, "sale is cancelled: nobody gets it\n", c.out)
	require.Len(t, s.orders, 1)
}

func TestABroadcastThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	s := newStation()
	for _, args := range [][]string{
		{"status", "sale"},
		{"report", "sale"},
		{"resume", "sale"},
		{"cancel", "sale", "--reason", "x", "--yes"},
		{"retry", "sale", "--only", "expired", "--yes"},
	} {
		c := ask(t, s, append([]string{"broadcast"}, args...)...)
		require.Equal(t, 1, c.code)
		require.Equal(t, "durabot: no broadcast sale in namespace default: see `durabot broadcast list`; closed ones are kept for the namespace's retention\n", c.errout)
	}
}
