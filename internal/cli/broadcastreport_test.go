package cli_test

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/cli"
	"github.com/durabot/durabot/internal/contract"
)

// then is when the recipients of fakes got what they got.
var then = time.Date(2026, 3, 4, 6, 6, 7, 0, time.FixedZone("", 3600))

// ended is a recipient with an outcome.
func ended(chat string, outcome contract.Outcome, reason contract.Reason) contract.RecipientResult {
	return contract.RecipientResult{Chat: chat, Outcome: outcome, Reason: reason, At: then}
}

// delivered is one who got it.
func delivered(chat string) contract.RecipientResult {
	r := ended(chat, contract.Delivered, "")
	r.MessageID = "9" + chat
	return r
}

// mixed is a broadcast that ended in many ways.
func mixed(t *testing.T) *station {
	t.Helper()
	s := newStation()
	started(t, s, "sale", []string{"chat_id,name", "1,Ann", "2,Bea", "3,Cem", "4,Dan"}, "--template", "--text", "Hello {{.name}}")
	twice := delivered("1")
	twice.PossibleDuplicate = true
	rejected := ended("3", contract.Dead, contract.ReasonRejected)
	rejected.Error = "=HYPERLINK(\"x\"), \"quoted\""
	s.end(t, "sale", contract.BroadcastDone, twice, ended("2", contract.Unreachable, ""), rejected, ended("4", contract.Dead, contract.ReasonUncertain))
	return s
}

func TestAReportHasARowForEachRecipient(t *testing.T) {
	t.Parallel()
	s := mixed(t)
	c := ask(t, s, "broadcast", "report", "sale")
	require.Zero(t, c.code, c.errout)
	require.Equal(t, `chat_id,outcome,message_id,error,at
1,delivered,91,,2026-03-04T05:06:07Z
2,unreachable,,,2026-03-04T05:06:07Z
3,rejected,,"'=HYPERLINK(""x""), ""quoted""",2026-03-04T05:06:07Z
4,uncertain,,,2026-03-04T05:06:07Z
`, c.out)
	require.Regexp(t, `^durabot: the rows are kept for 168h after a part of the broadcast has ended: all of them until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n$`, c.errout)

	c = ask(t, s, "broadcast", "report", "sale", "--only", "rejected,possible_duplicate", "-o", "json")
	require.Zero(t, c.code, c.errout)
	var rows []struct {
		Chat    string `json:"chat_id"`
		Outcome string `json:"outcome"`
		Error   string `json:"error"`
	}
	require.NoError(t, json.Unmarshal([]byte(c.out), &rows))
	require.Len(t, rows, 2)
	require.Equal(t, "1", rows[0].Chat)
	require.Equal(t, `=HYPERLINK("x"), "quoted"`, rows[1].Error, "JSON is for programs")
	require.Equal(t, "[]\n", ask(t, s, "broadcast", "report", "sale", "--only", "expired", "-o", "json").out)
	require.Equal(t, "chat_id,outcome,message_id,error,at\n", ask(t, s, "broadcast", "report", "sale", "--only", "expired").out)
}

func TestAReportInAFileIsItsOwners(t *testing.T) {
	t.Parallel()
	s := mixed(t)
	file := filepath.Join(t.TempDir(), "report.csv")
	c := ask(t, s, "broadcast", "report", "sale", "--out", file)
	require.Zero(t, c.code, c.errout)
	require.Empty(t, c.out)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, 5, strings.Count(string(text), "\n"))
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	c = ask(t, s, "broadcast", "report", "sale", "--out", "/nowhere/report.csv")
	require.Equal(t, 1, c.code)
	require.Equal(t, "durabot: --out: open /nowhere/report.csv: no such file or directory\n", c.errout)
}

func TestAReportSaysWhatIsStillPending(t *testing.T) {
	t.Parallel()
	s := newStation()
	started(t, s, "sale", []string{"1", "2"})
	s.runs["broadcast/7/sale/1"].shown = &contract.PartResult{Results: []contract.RecipientResult{delivered("1")}, Left: []string{"2"}}
	c := ask(t, s, "broadcast", "report", "sale")
	require.Zero(t, c.code, c.errout)
	require.Contains(t, c.out, "\n1,delivered,91,,2026-03-04T05:06:07Z\n2,pending,,,\n")
	require.Contains(t, c.errout, "durabot: 1 of 2 recipients still pending\n")
	s.deaf = true
	c = ask(t, s, "broadcast", "report", "sale")
	require.Zero(t, c.code, c.errout)
	require.Contains(t, c.out, "\n1,pending,,,\n2,pending,,,\n")
	require.Contains(t, c.errout, "durabot: no process runs the bot's workflows: of the parts that have not ended only the recipients are known, as pending\n")
}

func TestNoErrorInAReportIsAFormula(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[=+@\t\r-].*`)).Draw(r, "error")
		var out strings.Builder
		require.NoError(r, cli.ReportRow(&out, text))
		rows, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
		require.NoError(r, err)
		got := rows[1][3]
		require.False(r, got != "" && strings.ContainsRune("=+-@\t\r", rune(got[0])), got)
	})
}
