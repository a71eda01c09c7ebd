package cli_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
)

// marked is an office with one chat of each kind.
func marked(f contract.Figures) *office {
	o := onDuty(f)
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, s := range []contract.ChatState{
		{ChatID: 42, Closed: &contract.ChatClosed{Why: "Forbidden: bot was blocked by the user", Since: since}},
		{ChatID: -43, Moved: &contract.ChatMoved{To: -100123, Since: since}},
		{ChatID: 44, Penalties: []contract.ChatPenalty{{Method: "sendContact", Until: time.Now().Add(2 * time.Hour)}}},
		{ChatID: 45}, // about to end
	} {
		o.chats[contract.ChatID(7, s.ChatID)] = s
	}
	return o
}

func TestListIsOfEveryChatAboutWhichSomethingIs(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Local().Format("2006-01-02 15:04:05")
	c := ask(t, marked(contract.Figures{}), "chat", "list")
	require.Zero(t, c.code, c.errout)
	require.Regexp(t, `^CHAT +WHAT +WHEN +WHY\n`+
		`-43 +moved +since `+since+` +to chat -100123\n`+
		`42 +unreachable +since `+since+` +Forbidden: bot was blocked by the user\n`+
		`44 +rate limited +ends in \S+ +sendContact\n$`, c.out)
	require.Equal(t, "[]\n", ask(t, newOffice(), "chat", "list", "-o", "json").out)
	c = ask(t, marked(contract.Figures{}), "chat", "list", "-o", "json")
	require.Contains(t, c.out, `"chat_id": "-43"`)
	require.Contains(t, c.out, `"to": "-100123"`)
	require.NotContains(t, c.out, `"45"`)
}

func TestShowAddsWhatTheHolderKnows(t *testing.T) {
	t.Parallel()
	soon := time.Now().Add(20 * time.Second)
	o := marked(contract.Figures{Limiter: contract.LimiterFigures{
		Penalties: []contract.Penalty{
			{ChatID: "44", Method: "sendContact", Until: time.Now().Add(time.Hour)}, {ChatID: "44", Until: soon}, {ChatID: "46", Until: soon},
		},
		Learned: []contract.LearnedRate{{Share: 0.9}, {ChatID: "46", Share: 0.25}},
	}})
	c := ask(t, o, "chat", "show", "44")
	require.Regexp(t, `^chat 44\n  rate limited  ends in \S+s\n  rate limited  ends in (2h0m|1h59m\S*): sendContact\n$`, c.out, "the longer one counts")
	c = ask(t, o, "chat", "show", "46")
	require.Regexp(t, `^chat 46\n  rate limited  ends in \S+s\n  learned       at 25 % of its rate after 429s\n$`, c.out)
	c = ask(t, o, "chat", "show", "-43", "-o", "json")
	require.JSONEq(t, `{"chat_id":"-43","closed":null,"moved":{"to":"-100123","since":"2026-01-02T03:04:05Z"},"penalties":[],"learned_share":null}`, c.out)
}

func TestAnOrdinaryChatIsNothingExceptional(t *testing.T) {
	t.Parallel()
	c := ask(t, marked(contract.Figures{}), "chat", "show", "47")
	require.Zero(t, c.code, c.errout)
	require.Equal(t, "chat 47: nothing exceptional\n", c.out)
}

func TestClearTakesEveryMarkBackAndSaysWhatStays(t *testing.T) {
	t.Parallel()
	o := marked(contract.Figures{})
	c := ask(t, o, "chat", "clear", "42", "--reason", "they wrote us a letter")
	require.Zero(t, c.code, c.errout)
	require.Equal(t, "chat 42: cleared: calls to it are sent again; a penalty of Telegram's ends at its time\n", c.out)
	require.Len(t, o.cleared, 1)
	require.True(t, o.cleared[0].All)
	require.Equal(t, "they wrote us a letter", o.cleared[0].Reason)
	require.Regexp(t, `^.+@.+$`, o.cleared[0].By)
	require.True(t, o.cleared[0].Before.After(time.Now()), "a mark of this moment goes, too")

	c = ask(t, o, "chat", "clear", "47", "--reason", "x")
	require.Zero(t, c.code, c.errout)
	require.Equal(t, "chat 47: nothing exceptional, nothing to clear\n", c.out)
	c = ask(t, o, "chat", "clear", "047", "--reason", "x", "-o", "json")
	require.JSONEq(t, `{"chat_id":"47","cleared":false}`, c.out)
}
