package cli_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"

	"github.com/durabot/durabot"
	"github.com/durabot/durabot/internal/cli"
	"github.com/durabot/durabot/internal/contract"
)

// planned is the answer of `broadcast start`.
type planned struct {
	Name        string   `json:"name"`
	WorkflowID  string   `json:"workflow_id"`
	Duplicate   bool     `json:"duplicate"`
	DryRun      bool     `json:"dry_run"`
	Recipients  int      `json:"recipients"`
	Duplicates  int      `json:"duplicates"`
	Moved       int      `json:"moved"`
	Invalid     int      `json:"invalid"`
	Parts       int      `json:"parts"`
	Origin      string   `json:"origin"`
	RatePerS    *float64 `json:"rate_per_s"`
	ETA         *int64   `json:"eta_s"`
	Paid        bool     `json:"paid"`
	Stars       int      `json:"stars"`
	ETAIfPaid   *int64   `json:"eta_s_if_paid"`
	StarsIfPaid *int     `json:"stars_if_paid"`
	Status      *struct{ State string }
}

// partOf is what a part was started with.
func (s *station) partOf(t *testing.T, name string, n int) contract.PartInput {
	t.Helper()
	var in contract.PartInput
	run := s.runs[contract.PartID(7, name, n)]
	require.NotNil(t, run)
	require.NoError(t, converter.GetDefaultDataConverter().FromPayload(run.input.GetPayloads()[0], &in))
	return in
}

func TestABroadcastIsStartedOnceForItsName(t *testing.T) {
	t.Parallel()
	s := newStation()
	args := []string{"broadcast", "start", "sale", "--audience", audienceOf(t, "1", "2", "2", "3"), "--text", "SECRET", "--yes"}
	c := ask(t, s, args...)
	require.Zero(t, c.code, c.errout)
	require.Equal(t, "started: 3 recipients in 1 part; see `durabot broadcast status sale`\n", c.out)
	require.NotContains(t, c.out+c.errout, "SECRET", "nobody is there to read it")
	in := s.partOf(t, "sale", 1)
	require.Len(t, in.Recipients, 3)
	require.Equal(t, contract.AtMostOnce, in.What.Call.Delivery)
	require.Equal(t, []string{"broadcast/7/sale/1", "broadcast/7/sale"}, s.order)

	got, c := answered[planned](t, s, args...)
	require.Zero(t, c.code)
	require.True(t, got.Duplicate)
	require.Equal(t, "running", got.Status.State)
	require.Empty(t, c.errout, "nothing is asked, and nothing planned")
	require.Regexp(t, `^duplicate, nothing is started again: sale is running: 0 of 3 recipients\n$`, ask(t, s, args...).out)

	args[6] = "another SECRET"
	c = ask(t, s, args...)
	require.Equal(t, 1, c.code)
	require.Equal(t, "durabot: broadcast sale: the name belongs to a broadcast with another content or audience: choose another name: nothing was started\n", c.errout)
	require.Len(t, s.order, 2)
}

func TestAStartThatWasBrokenOffGoesOn(t *testing.T) {
	t.Parallel()
	s := newStation()
	s.refuse = 1
	file := audienceOf(t, chatsFrom(1, contract.PartRecipients+1)...)
	args := []string{"broadcast", "start", "sale", "--audience", file, "--text", "SECRET", "--yes"}
	c := ask(t, s, args...)
	require.Equal(t, 1, c.code)
	require.Contains(t, c.errout, "given again, the command starts nothing twice")
	s.refuse = 0
	got, c := answered[planned](t, s, args...)
	require.Zero(t, c.code, c.errout)
	require.False(t, got.Duplicate)
	require.Equal(t, 2, got.Parts)
	require.Len(t, s.order, 3)
}

func TestAnInvalidRowStartsNothingUnlessItIsLeftOut(t *testing.T) {
	t.Parallel()
	s := newStation()
	lines := []string{"1"}
	for range 12 {
		lines = append(lines, "nobody at all")
	}
	file := audienceOf(t, lines...)
	args := []string{"broadcast", "start", "sale", "--audience", file, "--text", "SECRET", "--yes"}
	c := ask(t, s, args...)
	require.Equal(t, 2, c.code)
	require.Contains(t, c.errout, file+":2: ")
	require.Contains(t, c.errout, file+":11: ")
	require.NotContains(t, c.errout, file+":12: ")
	require.Contains(t, c.errout, "durabot: "+file+": 12 invalid rows: nothing is started; mend them, or leave them out with --skip-invalid\n")
	require.Empty(t, s.order)
	got, c := answered[planned](t, s, append(args, "--skip-invalid")...)
	require.Zero(t, c.code, c.errout)
	require.Equal(t, 12, got.Invalid)
	require.Equal(t, 1, got.Recipients)
}

func TestAMissingFieldNamesTheLineAndStartsNothing(t *testing.T) {
	t.Parallel()
	s := newStation()
	file := fileOf(t, "people.jsonl", `{"chat_id":1,"name":"Ann"}`+"\n"+`{"chat_id":2,"name":null}`+"\n")
	c := ask(t, s, "broadcast", "start", "sale", "--audience", file, "--text", "Hello {{.name}}", "--template", "--yes")
	require.Equal(t, 2, c.code)
	require.Regexp(t, `^durabot: `+file+`:2: .*name`, c.errout)
	require.Empty(t, s.order)
}

func TestAChatThatMovedIsReachedWhereItIs(t *testing.T) {
	t.Parallel()
	s := newStation()
	s.chats["chat/7/-5"] = contract.ChatState{ChatID: -5, Moved: &contract.ChatMoved{To: -1005}}
	got, c := answered[planned](t, s, "broadcast", "start", "sale", "--audience", audienceOf(t, "-5", "-1005", "6"), "--text", "SECRET", "--yes")
	require.Zero(t, c.code, c.errout)
	require.Equal(t, planned{Recipients: 2, Duplicates: 1, Moved: 1}, planned{Recipients: got.Recipients, Duplicates: got.Duplicates, Moved: got.Moved})
	require.Contains(t, c.errout, "\n  rows        1 left out as duplicates, 1 taken to the chat's new id\n")
}

func TestAPersonIsShownTheMessageAndAsked(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]int{"y\n": 2, "n\n": 0} {
		s := newStation()
		file := fileOf(t, "people.csv", "chat_id,name\n1,Ann\x1b[2J\n2,Bea\n")
		var out, errout screen
		code := cli.Program{
			Handler: durabot.Echo, Args: []string{"broadcast", "start", "sale", "--audience", file, "--template", "--text", "Hello {{.name}},\nall is cheap"},
			Stdin: typed{strings.NewReader(answer)}, Stdout: &out, Stderr: &errout, Env: environment(serve(t, s)),
		}.Run(t.Context())
		require.Equal(t, map[bool]int{true: 0, false: 1}[want > 0], code, errout.String())
		require.Len(t, s.order, want)
		require.Contains(t, errout.String(), "broadcast sale: sendMessage to 2 chats\n")
		require.Contains(t, errout.String(), "\n  the first   Hello Ann[2J,\n              all is cheap\nstart? [y/N] ", "no control character reaches the terminal")
	}
}

func TestWithNobodyToAskABroadcastNeedsYes(t *testing.T) {
	t.Parallel()
	s := newStation()
	for _, to := range []string{audienceOf(t, "1"), "-"} {
		c := ask(t, s, "broadcast", "start", "sale", "--audience", to, "--text", "SECRET")
		require.Equal(t, 2, c.code)
		require.Equal(t, "durabot: nobody is there to be asked: give --yes\n", c.errout)
	}
	var out, errout screen
	program := cli.Program{
		Handler: durabot.Echo, Args: []string{"broadcast", "start", "sale", "--audience", "-", "--text", "SECRET"},
		Stdin: typed{strings.NewReader("1\n")}, Stdout: &out, Stderr: &errout, Env: environment(serve(t, s)),
	}
	require.Equal(t, 2, program.Run(t.Context()), "the audience is no answer")
	program.Args = append(program.Args, "--yes")
	require.Zero(t, program.Run(t.Context()), errout.String())
	require.Len(t, s.order, 2)
}

func TestABroadcastIsSaidHowToBeSent(t *testing.T) {
	t.Parallel()
	s := newStation()
	started(t, s, "sale", []string{"1"}, "--on-uncertain", "resend", "--ttl", "2h", "--rate", "5", "--plain-fallback", "--paid", "--reason", "spring")
	what := s.partOf(t, "sale", 1).What
	require.Equal(t, contract.AtLeastOnce, what.Call.Delivery)
	require.Equal(t, 2*time.Hour, what.Call.TTL)
	require.InDelta(t, 5, what.Rate, 0)
	require.True(t, what.Call.PlainFallback)
	state := stateOf(s.runs["broadcast/7/sale"])
	require.True(t, state.Paid)
	require.Equal(t, "spring", state.Actions[0].Reason)
	require.Regexp(t, `^.+@.+$`, state.Actions[0].By)
}

func TestWhatIsSeldomMeantIsTold(t *testing.T) {
	t.Parallel()
	s := newStation()
	c := ask(t, s, "broadcast", "start", "a", "--audience", audienceOf(t, "1"), "--text", "Hello {{.name}}", "--dry-run")
	require.Contains(t, c.errout, "durabot: it has {{ in it, and is sent as it stands: give --template to fill in fields\n")
	photo := fileOf(t, "photo.jpg", "x")
	c = ask(t, s, "broadcast", "start", "a", "--audience", audienceOf(t, "1"), "--method", "sendPhoto", "--params", `{"photo":{"@file":"`+photo+`"}}`, "--dry-run")
	require.Contains(t, c.errout, "durabot: it uploads a file to every chat, which Telegram slows down: upload it once, and give its file_id\n")
	require.NotContains(t, c.errout, "cannot be read")
}
