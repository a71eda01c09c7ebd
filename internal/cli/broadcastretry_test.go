package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
)

func TestARetryIsABroadcastOfThoseWhoDidNotGetIt(t *testing.T) {
	t.Parallel()
	s := mixed(t)
	args := []string{"broadcast", "retry", "sale", "--only", "rejected,uncertain", "--yes"}
	got, c := answered[planned](t, s, args...)
	require.Zero(t, c.code, c.errout)
	require.Equal(t, "sale-retry", got.Name)
	require.Equal(t, "sale", got.Origin)
	require.Contains(t, c.errout, "durabot: of broadcast sale: 1 rejected, 1 uncertain\n")
	require.Contains(t, c.errout, "durabot: 1 recipient may have got it: what comes now may be a duplicate, and is flagged as one\n")
	in := s.partOf(t, "sale-retry", 1)
	require.Equal(t, []contract.Addressee{
		{Recipient: contract.Recipient{Chat: "3", Fields: map[string]string{"name": "Cem"}}},
		{Recipient: contract.Recipient{Chat: "4", Fields: map[string]string{"name": "Dan"}, Doubtful: true}},
	}, in.Recipients)
	require.True(t, in.What.Template)
	require.Equal(t, s.partOf(t, "sale", 1).What, in.What, "what is not said is as it was")
	require.Equal(t, "sale", stateOf(s.runs["broadcast/7/sale-retry"]).Origin)

	got, c = answered[planned](t, s, args...)
	require.Zero(t, c.code, c.errout)
	require.True(t, got.Duplicate, "the same command again starts nothing")
	c = ask(t, s, "broadcast", "retry", "sale", "--only", "rejected", "--yes")
	require.Equal(t, 1, c.code)
	require.Contains(t, c.errout, "durabot: broadcast sale-retry: the name belongs to a broadcast with another content or audience")
	require.Zero(t, ask(t, s, "broadcast", "retry", "sale", "--only", "rejected", "--as", "again", "--yes").code)
}

func TestARetryCanSaySomethingElse(t *testing.T) {
	t.Parallel()
	s := mixed(t)
	c := ask(t, s, "broadcast", "retry", "sale", "--only", "rejected", "--text", "mended", "--rate", "3", "--on-uncertain", "resend", "--yes")
	require.Zero(t, c.code, c.errout)
	in := s.partOf(t, "sale-retry", 1)
	require.False(t, in.What.Template)
	require.InDelta(t, 3, in.What.Rate, 0)
	require.Equal(t, contract.AtLeastOnce, in.What.Call.Delivery)
	require.Empty(t, in.Recipients[0].Fields)
	params, err := in.What.Call.Object()
	require.NoError(t, err)
	require.JSONEq(t, `{"text":"mended"}`, string(params))
}

func TestARetrySaysWhoStillCannotBeReached(t *testing.T) {
	t.Parallel()
	s := mixed(t)
	s.chats["chat/7/2"] = contract.ChatState{ChatID: 2, Closed: &contract.ChatClosed{Why: "blocked"}}
	c := ask(t, s, "broadcast", "retry", "sale", "--only", "unreachable", "--dry-run")
	require.Zero(t, c.code, c.errout)
	require.Contains(t, c.errout, "durabot: 1 chat still marked as closed to the bot: it ends for them without a request unless they are cleared with `durabot chat clear`\n")
	require.Contains(t, c.out, "\n  origin      sale\n")
	require.Len(t, s.order, 2, "a dry run starts nothing")
}

func TestOnlyWhatHasEndedIsRetried(t *testing.T) {
	t.Parallel()
	s := newStation()
	started(t, s, "sale", []string{"1"})
	c := ask(t, s, "broadcast", "retry", "sale", "--only", "not_sent", "--yes")
	require.Equal(t, 1, c.code)
	require.Equal(t, "durabot: broadcast sale is running: wait until it has ended, or cancel it\n", c.errout)
	s.end(t, "sale", contract.BroadcastDone, delivered("1"))
	c = ask(t, s, "broadcast", "retry", "sale", "--only", "not_sent,expired", "--yes")
	require.Equal(t, 1, c.code)
	require.Equal(t, "durabot: broadcast sale: nobody in it is not_sent or expired: nothing is started\n", c.errout)
}
