package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/durabot/durabot/internal/cli"
	"github.com/durabot/durabot/internal/cli/story"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

func TestWrongUsageOfMessagesSaysWhatIsWanted(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"--limit: want 1 to 1000, got 0": {"list", "--limit", "0"},
		`--chat: want a chat id such as 42 or -1001234567890, or @name, got "x' OR ''='"`:                 {"list", "--chat", "x' OR ''='"},
		`--method: want a Bot API method such as sendMessage, got "x y"`:                                  {"list", "--method", "x y"},
		`--since: want a duration such as 24h, or a time such as 2030-01-31T09:00:00Z, got "yesterday"`:   {"list", "--since", "yesterday"},
		`invalid argument "done" for "--outcome" flag: want one of pending, scheduled, delivered`:         {"list", "--outcome", "done"},
		"durabot message show takes a key or a workflow ID, got 0 arguments: see durabot message show":    {"show"},
		"durabot message cancel takes a key or a workflow ID, got 2 arguments: see durabot message cance": {"cancel", "a", "b"},
	} {
		c := run(t.Context(), map[string]string{"DURABOT_BOT": "7", "TEMPORAL_ADDRESS": "127.0.0.1:1"}, append([]string{"message"}, args...)...)
		require.Equal(t, 2, c.code, want)
		require.Contains(t, c.errout, want)
	}
}

// Each outcome finds what ended so, and asks for search attributes only where
// nothing else tells it.
func TestEveryOutcomeHasItsQuery(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	const open, closed = "ExecutionStatus = 'Running'", "ExecutionStatus != 'Running' AND ExecutionStatus != 'ContinuedAsNew'"
	for outcome, want := range map[string]struct {
		open, closed string
		needs        bool
	}{
		"":                   {open, closed, false},
		"pending":            {open + " AND ExecutionTime <= '2026-11-29T12:00:00Z' AND (TgOutcome IS NULL OR TgOutcome != 'scheduled')", "", false},
		"scheduled":          {open + " AND (ExecutionTime > '2026-11-29T12:00:00Z' OR TgOutcome = 'scheduled')", "", false},
		"dead":               {"", "ExecutionStatus IN ('Failed', 'Terminated', 'TimedOut')", false},
		"delivered":          {"", "ExecutionStatus = 'Completed' AND (TgOutcome IS NULL OR TgOutcome = 'possible_duplicate')", true},
		"cancelled":          {"", "(ExecutionStatus = 'Canceled' OR (" + closed + " AND TgOutcome = 'cancelled'))", true},
		"possible_duplicate": {"", closed + " AND TgOutcome = 'possible_duplicate'", true},
		"gave_up":            {"", closed + " AND TgOutcome = 'gave_up'", true},
	} {
		o, c, needs := cli.MessageConditions(outcome, now, true)
		require.Equal(t, want.open, o, outcome)
		require.Equal(t, want.closed, c, outcome)
		require.Equal(t, want.needs, needs, outcome)
	}
	for outcome, want := range map[string]string{"pending": open + " AND ExecutionTime <= '2026-11-29T12:00:00Z'", "scheduled": open + " AND ExecutionTime > '2026-11-29T12:00:00Z'"} {
		o, _, _ := cli.MessageConditions(outcome, now, false)
		require.Equal(t, want, o, "without the attribute nothing may name it")
	}
}

// mail is an execution of a message.
func mail(id string, began, closed int, end enumspb.WorkflowExecutionStatus) *workflowpb.WorkflowExecutionInfo {
	e := execution(0, began, closed, end)
	e.Execution.WorkflowId = id
	return e
}

func TestMessagesAreListedWithWhatTheirHistoriesSay(t *testing.T) {
	t.Parallel()
	r := &recordings{
		pageSize: 1, histories: map[string]string{"message/7/order-17": "keyed_message", "message/7/a": "overtaken_message", "message/7/b": "held_message"},
		executions: []*workflowpb.WorkflowExecutionInfo{
			mail("message/7/order-17", 3, 4, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED), mail("message/7/a", 1, 9, enumspb.WORKFLOW_EXECUTION_STATUS_FAILED),
			mail("message/7/b", 2, 0, 0), mail("message/7/forgotten/x", 1, 2, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED),
		},
	}
	env := map[string]string{"TEMPORAL_ADDRESS": serve(t, r), "DURABOT_BOT": "7"}
	c := run(t.Context(), env, "message", "list", "-o", "json")
	require.Zero(t, c.code, c.errout)
	require.NotContains(t, c.out, "XYZZY")
	var rows []map[string]any
	require.NoError(t, json.Unmarshal([]byte(c.out), &rows))
	require.Len(t, rows, 4)
	require.Equal(t, "delivered", rows[0]["outcome"])
	require.Equal(t, "106", rows[0]["chat_id"])
	require.Equal(t, "pending", rows[1]["outcome"])
	require.Equal(t, "held", rows[1]["state"])
	require.NotNil(t, rows[1]["due_at"])
	require.Equal(t, "gave_up", rows[2]["reason"])
	require.Equal(t, "forgotten/x", rows[3]["key"], "a key may have slashes")
	require.Empty(t, rows[3]["outcome"], "its history is gone")

	c = run(t.Context(), env, "message", "list", "--limit", "2")
	require.Regexp(t, `^ACCEPTED +KEY +METHOD +CHAT +OUTCOME +DUE\n\S+ \S+ +order-17 +sendMessage +106 +delivered +-\n\S+ \S+ +update-616200215-1 +sendMessage +\d+ +scheduled +\S+ \S+\n$`, c.out)
}

func TestAMessagesStoryIsToldInTheOrderOfTime(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }
	part := func(id string, closed int) story.Call {
		return story.Call{
			CallResult: contract.CallResult{Method: "sendMessage", ChatID: "42", Outcome: contract.Delivered, MessageID: id, Attempts: 1},
			AcceptedAt: at(closed - 1), ClosedAt: at(closed),
		}
	}
	m := story.Message{
		Status: "running", DueAt: at(2), After: "message/7/first", AfterDelivered: true, Turn: &story.Turn{Since: at(2), Until: at(5), After: "message/7/first"},
		Total: 3, Parts: []story.Call{part("5", 7), {
			CallResult: contract.CallResult{Method: "sendMessage", ChatID: "42", Outcome: contract.Pending, Attempts: 1},
			State:      "waiting", NextAttemptAt: time.Now().Add(time.Hour), LastFailure: contract.FailureRateLimited,
		}},
		Call: story.Call{
			CallResult: contract.CallResult{
				Method: "sendMessage", ChatID: "42", Outcome: contract.Pending, MessageID: "5", PossibleDuplicate: true, Degraded: true,
				Overtaken: true, WorkflowID: "message/7/k",
			},
			Key: "k", AcceptedAt: noon, State: "waiting",
		},
	}
	var out bytes.Buffer
	require.NoError(t, cli.MessageText(&out, m))
	require.Contains(t, out.String(), "message k  sendMessage → chat 42\n  outcome   pending (waiting), POSSIBLE DUPLICATE, degraded, overtaken, running\n")
	require.Contains(t, out.String(), "\n  after     message/7/first, if that one is delivered\n  parts     3\n  messages  5\n")
	require.Regexp(t, `
    \+0.000s  accepted
    \+2.000s  its time has come
    \+5.000s  its turn after 3s: message/7/first has ended
    \+7.000s  part 1 of 3: sendMessage → chat 42: delivered, message 5, 1 attempt, 1s
          …  part 2 of 3: sendMessage → chat 42: waiting, 1 attempt, next at \S+( \S+)?, RateLimited \(Telegram wants the chat left alone until then\)
`, out.String())

	m.Status, m.State, m.Outcome, m.Reason, m.ClosedAt, m.DeadLetter, m.Error = "failed", "", contract.Dead, contract.ReasonRejected, at(9), "message/k", "no"
	out.Reset()
	require.NoError(t, cli.MessageText(&out, m))
	require.Contains(t, out.String(), "\n  error     no\n  dead      message/k: see `durabot dead show message/k`\n")
	require.Contains(t, out.String(), "\n    +9.000s  closed: dead (rejected), POSSIBLE DUPLICATE, degraded, overtaken, failed\n")
}

func TestShowOfAnUpdateSaysThatItIsNoMessage(t *testing.T) {
	t.Parallel()
	env := map[string]string{"TEMPORAL_ADDRESS": serve(t, &recordings{histories: map[string]string{"message/7/k": "echo"}})}
	for _, verb := range []string{"show", "cancel"} {
		c := run(t.Context(), env, "message", verb, "message/7/k")
		require.Equal(t, 1, c.code)
		require.Regexp(t, `^durabot: update/\d+/\d+ is a UpdateWorkflow, not a message\n$`, c.errout)
		c = run(t.Context(), env, "message", verb, "order/404", "--bot", "7")
		require.Equal(t, 1, c.code)
		require.Equal(t, "durabot: no message message/7/order/404 in namespace default: see `durabot message list`; closed ones are kept for the namespace's retention\n", c.errout)
	}
}

func (o operator) message(t *testing.T, code int, args ...string) (sent, console) {
	t.Helper()
	c := run(t.Context(), o.env, append([]string{"message"}, args...)...)
	require.Equal(t, code, c.code, c.errout)
	require.NotContains(t, c.out+c.errout, "PRIVATE")
	var s sent
	if strings.HasPrefix(c.out, "{") {
		require.NoError(t, json.Unmarshal([]byte(c.out), &s))
	}
	return s, c
}

func TestAMessageIsTakenBackBeforeItLeaves(t *testing.T) {
	t.Parallel()
	o := running(t, "default")
	o.meet(t, 42)
	o.send(t, 0, "--chat", "42", "--text", "hello PRIVATE", "--key", "later", "--in", "10h")
	o.send(t, 0, "--chat", "42", "--text", "hello PRIVATE", "--key", "behind", "--after", "later", "--after-delivered")
	s, _ := o.message(t, 0, "cancel", "later", "-o", "json")
	require.Equal(t, "cancelled", s.Outcome)
	require.NotNil(t, s.ClosedAt)
	_, c := o.message(t, 0, "cancel", "later")
	require.Contains(t, c.out, "sendMessage → chat 42: cancelled", "twice is as good as once")
	s, c = o.send(t, 1, "--chat", "42", "--text", "hello PRIVATE", "--key", "behind", "--wait")
	require.Equal(t, "cancelled", s.Outcome, c.errout)
	require.Len(t, o.Ledger(42), 1, "only the answer")
	_, c = o.message(t, 0, "show", "behind")
	require.Contains(t, c.out, fmt.Sprintf("  after     message/%d/later, if that one is delivered\n", o.bot()))
}

func TestOfADeliveredMessageItIsTooLateToTakeItBack(t *testing.T) {
	t.Parallel()
	o := running(t, "default")
	o.meet(t, 42)
	first, _ := o.send(t, 0, "--chat", "42", "--text", "hello PRIVATE", "--key", "k", "--wait")
	s, c := o.message(t, 1, "cancel", "k", "-o", "json")
	require.Equal(t, first, s)
	require.Equal(t, fmt.Sprintf("durabot: message/%d/k: too late: delivered\n", o.bot()), c.errout)
}

func TestAMessageThatWaitsForTelegramIsTakenBack(t *testing.T) {
	t.Parallel()
	o := running(t, "default")
	o.meet(t, 42)
	o.Fault(telegramsim.Fault{Method: "sendMessage", ChatID: 42, Kind: telegramsim.FaultStatus, Status: 429, Times: 1, Body: `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 600","parameters":{"retry_after":600}}`})
	o.send(t, 0, "--chat", "42", "--text", "hello PRIVATE", "--key", "k")
	require.Eventually(t, func() bool {
		_, c := o.message(t, 0, "show", "k")
		return strings.Contains(c.out, "RateLimited (Telegram wants the chat left alone until then)")
	}, patience, 50*time.Millisecond)
	s, _ := o.message(t, 0, "cancel", "k", "-o", "json")
	require.Equal(t, "cancelled", s.Outcome)
}

func TestALongMessageIsShownWithItsParts(t *testing.T) {
	t.Parallel()
	o := running(t, "default")
	o.meet(t, 42)
	s, _ := o.send(t, 0, "--chat", "42", "--text", strings.Repeat("hello PRIVATE ", 400), "--split", "--key", "long", "--wait")
	require.Equal(t, "delivered", s.Outcome)
	_, c := o.message(t, 0, "show", "long")
	require.Regexp(t, `\n  parts     2\n  messages  \d+, \d+\n`, c.out)
	require.Contains(t, c.out, "part 2 of 2: sendMessage → chat 42: delivered, message ")
	c = run(t.Context(), o.env, "message", "show", "long", "--payload", "-o", "json")
	var shown struct {
		Payload struct{ Text string }
		Parts   []story.Call
		Total   int      `json:"parts_total"`
		IDs     []string `json:"message_ids"`
	}
	require.NoError(t, json.Unmarshal([]byte(c.out), &shown))
	require.Contains(t, shown.Payload.Text, "PRIVATE")
	require.Len(t, shown.Parts, 2)
	require.Equal(t, 2, shown.Total)
	require.Len(t, shown.IDs, 2)
}

func TestAMessageThatDiedIsShownWithItsDeadLetter(t *testing.T) {
	t.Parallel()
	o := running(t, "default")
	o.meet(t, 42)
	_, c := o.send(t, 1, "--chat", "42", "--method", "sendMessage", "--params", `{"text":""}`, "--key", "bad", "--wait")
	require.Contains(t, c.errout, "/bad was not delivered: dead (rejected): see `durabot dead show message/bad`\n")
	_, c = o.message(t, 0, "show", "bad")
	require.Contains(t, c.out, "outcome   dead (rejected), failed\n")
	require.Contains(t, c.out, "dead      message/bad: see `durabot dead show message/bad`\n")
	_, c = o.message(t, 1, "cancel", "bad")
	require.Contains(t, c.errout, "too late: dead (rejected)\n")
}
