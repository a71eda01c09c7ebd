package cli_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/cli"
	"github.com/durabot/durabot/internal/cli/story"
	"github.com/durabot/durabot/internal/contract"
)

func TestTimelineIsInTheOrderOfTimeAndWhatIsToComeIsLast(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	var out bytes.Buffer
	require.NoError(t, cli.StoryText(&out, cli.Shown{UI: "http://ui/page", Story: story.Story{
		DeadLetter: "update/42",
		UpdateID:   "42", WorkflowID: "update/7/42", Kind: "message", ChatID: "-100", ReceivedAt: began, AcceptedAt: at(1), Status: "running",
		Outcome: contract.Pending, Turn: &story.Turn{After: "update/7/41", Since: at(1), Until: at(2501), Woken: true},
		Handling: &story.Handling{State: "done", Attempts: 2, MaxAttempts: 3, Decided: 2, StartedAt: at(2502), ClosedAt: at(3000), Error: "it panicked"},
		Calls: []story.Call{
			{CallResult: contract.CallResult{Method: "sendPhoto", ChatID: "-100", Outcome: contract.Pending}, State: "under_way"},
			{
				CallResult: contract.CallResult{Method: "sendMessage", ChatID: "-100", Outcome: contract.Delivered, MessageID: "9", Attempts: 1},
				AcceptedAt: at(3001), ClosedAt: at(75_000),
			},
		},
	}}))
	require.Contains(t, out.String(), `
    +0.001s  stored in Temporal
    +2.501s  its turn after 2.5s: update/7/41 is done, and woke it
    +3.000s  handled: 2 attempts of 3, 498ms, 2 calls, earlier it panicked
     +1m15s  sendMessage → chat -100: delivered, message 9, 1 attempt, 1m12s
          …  sendPhoto → chat -100: under way
`)
	require.Contains(t, out.String(), "update 42  message → chat -100\n  outcome   pending, running\n")
	require.Contains(t, out.String(), "\n  dead      update/42: see `durabot dead show update/42`\n  ui        http://ui/page\n")
}

func TestCallTextTellsEveryFlag(t *testing.T) {
	t.Parallel()
	text := cli.CallText(story.Call{
		CallResult: contract.CallResult{
			Method: "sendMessage", Outcome: contract.Dead, Reason: contract.ReasonUncertain, PossibleDuplicate: true, Degraded: true,
			Overtaken: true, WorkflowID: "message/7/k", MovedTo: "-5", Error: "no\nanswer",
		},
		LastFailure: "Unavailable",
	})
	require.Equal(t, "sendMessage: dead (uncertain), POSSIBLE DUPLICATE, degraded, overtaken, moved to chat -5, as message/7/k, Unavailable, no answer", text)
}

func TestUIOfLocalAndCloudServersIsKnown(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"127.0.0.1:7233":                     "http://127.0.0.1:8233",
		"localhost:17233":                    "http://localhost:18233",
		"[::1]:7233":                         "http://[::1]:8233",
		"bots.a1b2c.tmprl.cloud:7233":        "https://cloud.temporal.io",
		"eu-west-1.aws.api.temporal.io:7233": "https://cloud.temporal.io",
		"temporal.example.org:7233":          "",
		"10.0.0.7:7233":                      "",
		"dns:///temporal:7233":               "",
		"localhost:grpc":                     "",
	} {
		require.Equal(t, want, cli.DefaultUI(address), address)
	}
}

func TestDurationsAreShort(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "under 1ms", 17 * time.Millisecond: "17ms", 2512 * time.Millisecond: "2.5s", 75 * time.Second: "1m15s",
		168 * time.Hour: "168h", 90*time.Minute + 20*time.Second: "1h30m",
	} {
		require.Equal(t, want, cli.Brief(d))
	}
	require.Equal(t, "é…", cli.Short("éàü", 2))
	require.Equal(t, "a b", cli.Short("a\n b", 9))
}
