package cli_test

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"pgregory.net/rapid"
)

// show is what `update show` says of a recorded history.
func show(t *testing.T, histories map[string]string, args ...string) console {
	t.Helper()
	address := serve(t, &recordings{histories: histories})
	return run(t.Context(), map[string]string{"TEMPORAL_ADDRESS": address}, append([]string{"update", "show"}, args...)...)
}

func TestShowFollowsTheCallsThatWentOn(t *testing.T) {
	t.Parallel()
	c := show(t, map[string]string{
		"update/700000001/1": "keyed", "message/700000001/order-17": "keyed_message", "message/700000001/update-616200215-1": "held_message",
	}, "update/700000001/1")
	require.Zero(t, c.code, c.errout)
	require.Regexp(t, `sendMessage → chat 106: delivered, message \d+, 1 attempt, \S+, as message/700000001/order-17\n`, c.out)
	require.Regexp(t, `… +sendMessage → chat 106: held, next at [^,]+, as message/700000001/update-616200215-1\n`, c.out)
	require.NotContains(t, c.out, "XYZZY")

	c = show(t, map[string]string{"update/700000001/1": "overtaken", "message/700000001/update-616200216-0": "overtaken_message"}, "update/700000001/1")
	require.Contains(t, c.out, "sendMessage → chat 108: dead (gave_up)")
	require.Contains(t, c.out, "POSSIBLE DUPLICATE, overtaken, as message/700000001/update-616200216-0")
}

func TestShowGoesOnWithoutAMessageThatIsForgotten(t *testing.T) {
	t.Parallel()
	c := show(t, map[string]string{"update/700000001/1": "overtaken"}, "1", "--bot", "700000001")
	require.Zero(t, c.code, c.errout)
	require.Contains(t, c.out, "sendMessage → chat 108: pending")
}

func TestShowTellsOfTurnPressAndFailure(t *testing.T) {
	t.Parallel()
	for fixture, want := range map[string]string{
		"waited":         "its turn after 3.5s: update/700000001/616200217 is done, and woke it\n",
		"woke":           "closed: done, woke 1 later updates of its chat\n",
		"callback":       "answerCallbackQuery: delivered, 1 attempt, 10ms (the press, answered at once)\n",
		"panicked":       "not handled: 3 attempts of 3, 1.2s, it panicked\n",
		"rejected":       "sendMessage → chat 104: dead (rejected), not sent: an earlier call of this update died\n",
		"duplicate":      "sendMessage → chat 110: delivered, message 3, 2 attempts, 1.6s, POSSIBLE DUPLICATE, telegram: sendMessage: read tcp ",
		"waiting":        "…  waits for update/700000001/616200229, the chat's earlier update\n",
		"turn_in_memory": "its turn after 28ms: update/700000001/616200221 is done\n",
	} {
		c := show(t, map[string]string{"update/7/1": fixture}, "update/7/1")
		require.Zero(t, c.code, c.errout)
		require.Contains(t, c.out, want, fixture)
		require.NotContains(t, c.out, "XYZZY", fixture)
	}
}

func TestShowOfAMessageSaysThatItIsNoUpdate(t *testing.T) {
	t.Parallel()
	c := show(t, map[string]string{"message/7/k": "keyed_message"}, "message/7/k")
	require.Equal(t, 1, c.code)
	require.Equal(t, "durabot: message/700000001/order-17 is a MessageWorkflow, not an update\n", c.errout)
	c = show(t, nil, "update/7/404")
	require.Equal(t, 1, c.code)
	require.Contains(t, c.errout, "durabot: no update update/7/404 in namespace default: see `durabot update list`")
}

func TestShowPrintsTheUpdateOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	c := show(t, map[string]string{"update/7/1": "echo"}, "update/7/1", "--payload", "-o", "json")
	var answer struct {
		Payload struct{ Message struct{ Text string } }
		UI      string `json:"ui_url"`
		ChatID  string `json:"chat_id"`
	}
	require.NoError(t, json.Unmarshal([]byte(c.out), &answer))
	require.Equal(t, "hello XYZZY", answer.Payload.Message.Text)
	require.Equal(t, "101", answer.ChatID)
	require.Regexp(t, `^http://127\.0\.0\.1:\d+/namespaces/default/workflows/update%2F7%2F1$`, answer.UI)
}

// Whatever the order in which updates were closed, the list is of those that
// came last.
func TestListIsOfTheUpdatesThatCameLast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		var all []*workflowpb.WorkflowExecutionInfo
		began := rapid.SliceOfNDistinct(rapid.IntRange(1, 200), 0, 40, rapid.ID[int]).Draw(r, "began")
		for i, at := range began {
			closed := rapid.SampledFrom([]int{0, at, at + 1, at + 50, at + 400}).Draw(r, "closed")
			all = append(all, execution(i, at, closed, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED))
		}
		limit := rapid.IntRange(1, 12).Draw(r, "limit")
		address := serve(t, &recordings{executions: all, pageSize: rapid.IntRange(1, 7).Draw(r, "page")})
		rows := listed(t, address, "--limit", strconv.Itoa(limit))
		slices.SortFunc(all, func(a, b *workflowpb.WorkflowExecutionInfo) int {
			return cmp.Compare(b.GetStartTime().GetSeconds(), a.GetStartTime().GetSeconds())
		})
		require.Len(t, rows, min(limit, len(all)))
		for i, row := range rows {
			require.Equal(t, all[i].GetExecution().GetWorkflowId(), row.WorkflowID)
		}
	})
}

type listedRow struct {
	WorkflowID string `json:"workflow_id"`
	UpdateID   string `json:"update_id"`
	Status     string `json:"status"`
	Outcome    string `json:"outcome"`
}

func listed(t *testing.T, address string, args ...string) []listedRow {
	t.Helper()
	c := run(t.Context(), map[string]string{"TEMPORAL_ADDRESS": address, "DURABOT_BOT": "7"}, append([]string{"update", "list", "-o", "json"}, args...)...)
	require.Zero(t, c.code, c.errout)
	var rows []listedRow
	require.NoError(t, json.Unmarshal([]byte(c.out), &rows))
	return rows
}

func TestListHasAWordForEveryEnd(t *testing.T) {
	t.Parallel()
	ends := map[string]enumspb.WorkflowExecutionStatus{
		"completed": enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, "failed": enumspb.WORKFLOW_EXECUTION_STATUS_FAILED,
		"cancelled": enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, "terminated": enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED,
		"timed_out": enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT,
	}
	for word, end := range ends {
		r := &recordings{executions: []*workflowpb.WorkflowExecutionInfo{execution(1, 1, 2, end)}, pageSize: 10}
		rows := listed(t, serve(t, r))
		require.Equal(t, word, rows[0].Status)
		require.Empty(t, rows[0].Outcome, "its history is gone")
	}
}

func TestListAsATableShowsTheOutcome(t *testing.T) {
	t.Parallel()
	began := time.Unix(1, 0).Local().Format("2006-01-02 15:04:05")
	r := &recordings{
		histories:  map[string]string{"update/7/1": "rejected"},
		executions: []*workflowpb.WorkflowExecutionInfo{execution(1, 1, 2, enumspb.WORKFLOW_EXECUTION_STATUS_FAILED), execution(22, 3, 0, 0)},
		pageSize:   10,
	}
	c := run(t.Context(), map[string]string{"TEMPORAL_ADDRESS": serve(t, r), "DURABOT_BOT": "7"}, "update", "list")
	require.Zero(t, c.code, c.errout)
	require.Contains(t, c.out, "UPDATE_ID  KIND  CHAT  STATUS   RECEIVED             OUTCOME\n22         -     -     running  ")
	require.Contains(t, c.out, "\n1          -     -     failed   "+began+"  dead (rejected)\n")
}
