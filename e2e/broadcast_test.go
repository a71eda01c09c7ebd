package e2e_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// A broadcast reaches everybody once, whatever is killed meanwhile, and can be
// steered. Only these tests catch a recipient that is lost between a part, its
// batches and the processes that send them.

// mailing is what broadcast status prints.
type mailing struct {
	State       string `json:"state"`
	Total       int    `json:"total"`
	Pending     int    `json:"pending"`
	Delivered   int    `json:"delivered"`
	Unreachable int    `json:"unreachable"`
	Rejected    int    `json:"rejected"`
	NotSent     int    `json:"not_sent"`
	Actions     []struct {
		What   string `json:"what"`
		By     string `json:"by"`
		Reason string `json:"reason"`
	} `json:"actions"`
}

func (w *world) mailing(name string) mailing {
	w.t.Helper()
	return parse[mailing](w.t, w.must("broadcast", "status", name, "-o", "json"))
}

// audience makes n chats, the first of which is this one, and a file of them.
func (w *world) audience(first int64, n int) string {
	w.t.Helper()
	var lines strings.Builder
	for i := range int64(n) {
		w.CreateChat(telegramsim.Chat{ID: first + i})
		fmt.Fprintf(&lines, "%d\n", first+i)
	}
	file := filepath.Join(w.dir, fmt.Sprintf("audience-%d.txt", first))
	require.NoError(w.t, os.WriteFile(file, []byte(lines.String()), 0o600))
	return file
}

// report is what became of each recipient, by chat.
func (w *world) report(name string) map[string]string {
	w.t.Helper()
	rows, err := csv.NewReader(strings.NewReader(w.must("broadcast", "report", name, "-o", "csv"))).ReadAll()
	require.NoError(w.t, err)
	require.Equal(w.t, []string{"chat_id", "outcome", "message_id", "error", "at"}, rows[0])
	all := map[string]string{}
	for _, row := range rows[1:] {
		require.NotContains(w.t, all, row[0], "a recipient is told twice")
		all[row[0]] = row[1]
	}
	return all
}

func TestABroadcastReachesEverybodyOnceThoughTheHolderAndTemporalAreKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramsLimits)
	server := w.ownServer()
	defer func() { server.Stop() }()
	const n, first = 600, 5000
	file := w.audience(first, n)
	for i := range int64(n) {
		switch {
		case i%20 == 0:
			w.Block(first + i)
		case i%100 == 7:
			w.Fault(telegramsim.Fault{
				Method: "sendMessage", ChatID: first + i, Times: 1, Kind: telegramsim.FaultStatus, Status: 429,
				Body: `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 5","parameters":{"retry_after":5}}`,
			})
		case i%200 == 11:
			w.Fault(telegramsim.Fault{Method: "sendMessage", ChatID: first + i, Times: 1, Kind: telegramsim.FaultStatus, Status: 502})
		}
	}
	holder := w.startVia(server.Addr()).onDuty()
	w.must("broadcast", "start", "news", "--audience", file, "--text", "news", "--yes")
	for _, part := range []int{30, 60} {
		w.eventually(fmt.Sprintf("%d %% are sent", part), func() bool { return int(w.Accepted()) >= n*part/100 })
		holder.kill()
		holder = w.startVia(server.Addr()).onDuty()
	}
	w.eventually("80 % are sent", func() bool { return int(w.Accepted()) >= n*80/100 })
	server.Kill()
	var err error
	server, err = server.Restart(t.Context())
	require.NoError(t, err)
	holder.ready()
	w.eventually("it has ended", func() bool { return w.mailing("news").State == "done" })

	outcomes := w.report("news")
	require.Len(t, outcomes, n)
	blocked := 0
	for i := range int64(n) {
		chat := first + i
		copies, outcome := len(w.Ledger(chat)), outcomes[fmt.Sprint(chat)]
		require.LessOrEqual(t, copies, 1, "chat %d", chat)
		switch outcome {
		case "delivered":
			require.Equal(t, 1, copies, "chat %d", chat)
		case "unreachable":
			require.Zero(t, i%20, "chat %d", chat)
		default: // the answer, a refusal perhaps, was lost with its process
			require.Equal(t, "uncertain", outcome, "chat %d", chat)
		}
		if i%20 == 0 {
			require.NotEqual(t, "delivered", outcome, "chat %d", chat)
			blocked++
		}
	}
	require.Equal(t, n/20, blocked)
	s := w.mailing("news")
	require.GreaterOrEqual(t, s.Unreachable, n/20*9/10)
	require.GreaterOrEqual(t, s.Delivered, n*9/10)
	refused := 0
	for _, r := range w.Requests() {
		if isRefused(r) {
			refused++
		}
	}
	require.Equal(t, n/100, refused, "of 429s there are only those that were arranged")
	require.Zero(t, w.Violations())
}

func TestABroadcastIsPausedResumedAndCancelledWithinTwoSeconds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramsLimits)
	server := w.ownServer() // what others queue in a common one would count against the promise
	defer server.Stop()
	file := w.audience(6000, 400)
	w.startVia(server.Addr()).onDuty()
	w.must("broadcast", "start", "news", "--audience", file, "--text", "news", "--yes")
	w.eventually("it runs", func() bool { return w.Accepted() > 20 })
	w.must("broadcast", "pause", "news", "--reason", "a mistake")
	w.pass(time.Now().Add(2 * time.Second))
	still := w.Accepted()
	w.pass(time.Now().Add(2 * time.Second))
	require.Equal(t, still, w.Accepted())
	require.Equal(t, "paused", w.mailing("news").State)
	w.must("broadcast", "pause", "news", "--reason", "again")
	w.must("broadcast", "resume", "news")
	w.eventually("it goes on", func() bool { return w.Accepted() > still+20 })
	w.must("broadcast", "cancel", "news", "--reason", "enough", "--yes")
	w.pass(time.Now().Add(2 * time.Second))
	still = w.Accepted()
	w.eventually("all are told", func() bool { return w.mailing("news").Pending == 0 })
	s := w.mailing("news")
	require.Equal(t, still, w.Accepted())
	require.Equal(t, "cancelled", s.State)
	require.Equal(t, 400, s.Delivered+s.NotSent)
	require.Equal(t, int(still), s.Delivered)
	require.Len(t, s.Actions, 4, "done twice is done once")
	require.Equal(t, "enough", s.Actions[3].Reason)
	out := w.must("broadcast", "start", "news", "--audience", file, "--text", "news", "--yes", "-o", "json")
	require.True(t, parse[struct {
		Duplicate bool `json:"duplicate"`
	}](t, out).Duplicate)
	w.must("broadcast", "retry", "news", "--only", "not_sent", "--yes")
	w.eventually("the others get it, too", func() bool { return w.mailing("news-retry").State == "done" })
	for i := range int64(400) {
		require.Len(t, w.Ledger(6000+i), 1, "chat %d", 6000+i)
	}
}

func TestABroadcastThatTelegramRefusesPausesItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file := w.audience(7000, 300)
	w.start().onDuty()
	w.must("broadcast", "start", "news", "--audience", file, "--method", "sendMessage", "--params", `{"text":"<b","parse_mode":"HTML"}`, "--yes")
	w.eventually("it is paused", func() bool { return w.mailing("news").State == "paused" })
	s := w.mailing("news")
	require.Equal(t, "durabot", s.Actions[1].By)
	require.Contains(t, s.Actions[1].Reason, "can't parse entities")
	require.GreaterOrEqual(t, s.Rejected, 20)
	require.Less(t, s.Rejected, 100, "the audience is not burned")
	w.must("broadcast", "cancel", "news", "--reason", "broken", "--yes")
	w.eventually("all are told", func() bool { return w.mailing("news").Pending == 0 })
}

func TestAGroupThatMovedAndItsNewIdGetOneCopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const group = -4002
	w.CreateChat(telegramsim.Chat{ID: group, Type: "group"})
	moved := w.Migrate(group)
	file := filepath.Join(w.dir, "groups.txt")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "%d\n%d\n", group, moved), 0o600))
	w.start().onDuty()
	w.must("broadcast", "start", "news", "--audience", file, "--text", "news", "--yes")
	w.eventually("it has ended", func() bool { return w.mailing("news").State == "done" })
	require.Len(t, w.Ledger(moved), 1)
	outcomes := w.report("news")
	require.Equal(t, "delivered", outcomes[fmt.Sprint(moved)])
	require.Contains(t, []string{"", "superseded"}, outcomes[fmt.Sprint(group)], "known to have moved when it was started, or not")
}
