package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWrongUsageOfABroadcastSaysWhatToDo(t *testing.T) {
	t.Parallel()
	file := audienceOf(t, "1")
	for name, row := range map[string]struct {
		args []string
		want string
	}{
		"no name":     {[]string{"start"}, "durabot broadcast start takes the name of a broadcast, got 0 arguments: see durabot broadcast start --help"},
		"no audience": {[]string{"start", "a", "--text", "SECRET", "--yes"}, "--audience: say for whom: a file of chats, or - for standard input"},
		"no file":     {[]string{"start", "a", "--audience", "/nowhere", "--text", "SECRET", "--yes"}, "--audience: open /nowhere: no such file or directory"},
		"no stdin":    {[]string{"start", "a", "--audience", "-", "--text", "SECRET", "--yes"}, "--audience: there is no standard input"},
		"nothing":     {[]string{"start", "a", "--audience", file, "--yes"}, "nothing to send: give --text, or --method with --params"},
		"time":        {[]string{"start", "a", "--audience", file, "--text", "SECRET", "--at", "noon", "--yes"}, `--at: want a time such as 2030-01-31T09:00:00Z or 2030-01-31T09:00:00+02:00, got "noon"`},
		"ttl":         {[]string{"start", "a", "--audience", file, "--text", "SECRET", "--ttl", "-1h", "--yes"}, "--ttl: want more than 0, got -1h0m0s"},
		"test chat":   {[]string{"start", "a", "--audience", file, "--text", "SECRET", "--test", "me"}, `--test: want a chat id such as 42 or -1001234567890, or @name, got "me"`},
		"both":        {[]string{"start", "a", "--audience", file, "--text", "SECRET", "--test", "1", "--dry-run"}, "--dry-run or --test: give one of them"},
		"wait":        {[]string{"start", "a", "--audience", file, "--text", "SECRET", "--test", "1", "--wait"}, "--wait: nothing is started that could be waited for: leave it out"},
		"pause":       {[]string{"pause", "a"}, "--reason: say why, for those who come after"},
		"cancel":      {[]string{"cancel", "a", "--yes"}, "--reason: say why, for those who come after"},
		"unasked":     {[]string{"cancel", "a", "--reason", "x"}, "nobody is there to be asked: give --yes"},
		"watch":       {[]string{"status", "a", "--watch", "--every", "1ms"}, "--every: want 100ms or more, got 1ms"},
		"report":      {[]string{"report", "a", "--only", "lost"}, `--only: want one of unreachable, rejected, uncertain, not_sent, gave_up, expired, delivered, superseded, dropped, moved_twice, pending, possible_duplicate, got "lost"`},
		"retry":       {[]string{"retry", "a", "--yes"}, "--only: say who gets it once more: unreachable, rejected, uncertain, not_sent, gave_up, expired"},
		"retry whom":  {[]string{"retry", "a", "--only", "delivered", "--yes"}, `--only: want one of unreachable, rejected, uncertain, not_sent, gave_up, expired, got "delivered"`},
		"retry both":  {[]string{"retry", "a", "--only", "expired", "--yes", "--text", "SECRET", "--method", "sendMessage"}, "--text or --method with --params: give one of them"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := run(t.Context(), map[string]string{"TEMPORAL_ADDRESS": "127.0.0.1:1", "DURABOT_BOT": "7"}, append([]string{"broadcast"}, row.args...)...)
			require.Equal(t, 2, c.code)
			require.Equal(t, "durabot: "+row.want+"\n", c.errout)
		})
	}
	c := run(t.Context(), map[string]string{"TEMPORAL_ADDRESS": "127.0.0.1:1", "DURABOT_BOT": "7"}, "broadcast", "status", "a/b")
	require.Equal(t, 2, c.code)
	require.Contains(t, c.errout, "durabot: name: want ")
}
