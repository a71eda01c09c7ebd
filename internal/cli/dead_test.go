package cli_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	updatepb "go.temporal.io/api/update/v1"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/durabot/durabot/internal/contract"
)

// few are letters of three chats, and of none.
func few() []contract.DeadState {
	update := letter("42", "-100", 3, contract.ReasonHandlerFailed)
	update.Kind, update.Method, update.Left = contract.DeadUpdate, "callback_query", 0
	old := letter("old", "1001", 4, contract.ReasonGaveUp)
	old.At, old.Method, old.Error = died.Add(-1000*time.Hour), "sendPhoto", ""
	nobody := letter("nobody", "", 5, contract.ReasonRejected)
	return []contract.DeadState{
		letter("b", "1001", 2, contract.ReasonRejected), letter("a", "1001", 1, contract.ReasonUncertain), update, old, nobody,
	}
}

func TestDeadListBeginsWithWhatWasAcceptedFirst(t *testing.T) {
	t.Parallel()
	c := ask(t, newMorgue(few()...), "dead", "list")
	require.Zero(t, c.code, c.errout)
	at := died.Local().Format("2006-01-02 15:04:05")
	require.Regexp(t, `^ID +STATE +REASON +CHAT +METHOD +DIED +ERROR\n`+
		`message/a +open +uncertain +1001 +sendMessage +`+at+` +Bad Request: BUTTON_DATA_INVALID\n`+
		`message/b +open +rejected +1001 .*\n`+
		`update/42 +open +handler_failed +-100 +callback_query .*\n`+
		`message/old +open +gave_up +1001 +sendPhoto +\S+ \S+ +-\n`+
		`message/nobody +open +rejected +- .*\n`+
		`5 dead letters: 2 rejected, 1 gave_up, 1 handler_failed, 1 uncertain\n$`, c.out)
	require.Equal(t, "[]\n", ask(t, newMorgue(), "dead", "list", "-o", "json").out)
	require.Regexp(t, `\n0 dead letters\n$`, ask(t, newMorgue(), "dead", "list").out)
}

func TestDeadListFiltersByWhatALetterShows(t *testing.T) {
	t.Parallel()
	m := newMorgue(few()...)
	age := time.Since(died)
	for want, args := range map[string][]string{
		"message/b":   {"--died-of", "rejected", "--chat", "1001"},
		"message/a":   {"--reason", "uncertain"},
		"update/42":   {"--kind", "update"},
		"message/old": {"--method", "sendphoto"},
	} {
		require.Equal(t, []string{want}, ids(t, m, args...), args)
	}
	require.Equal(t, []string{"message/a", "message/b", "message/nobody"}, ids(t, m, "--died-of", "uncertain", "--reason", "rejected"), "of one or the other")
	require.Equal(t, []string{"update/42"}, ids(t, m, "--chat", "-100"))
	require.Equal(t, []string{"message/old"}, ids(t, m, "--older-than", (age+time.Hour).String()))
	require.Len(t, ids(t, m, "--newer-than", (age+time.Hour).String()), 4)
	require.Equal(t, []string{"message/a", "message/b"}, ids(t, m, "--limit", "2"))
	require.Contains(t, ask(t, m, "dead", "list", "--limit", "2").out, "\n5 dead letters: 2 rejected, 1 gave_up, 1 handler_failed, 1 uncertain; 3 more than shown, see --limit\n")
}

func ids(t *testing.T, m *morgue, args ...string) []string {
	t.Helper()
	c := ask(t, m, append([]string{"dead", "list", "-o", "json"}, args...)...)
	require.Zero(t, c.code, c.errout)
	var rows []struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(c.out), &rows))
	found := []string{}
	for _, r := range rows {
		found = append(found, r.ID)
	}
	return found
}

func TestDeadListShowsWhatIsClosedOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	ended := letter("ended", "1001", 0, contract.ReasonRejected)
	ended.State = contract.DeadDiscarded
	busy := letter("busy", "1001", 1, contract.ReasonRejected)
	busy.Replaying = true
	m := newMorgue(ended, busy)
	require.Equal(t, []string{"message/busy"}, ids(t, m))
	c := ask(t, m, "dead", "list", "--all")
	require.Regexp(t, `(?m)^message/ended +discarded `, c.out)
	require.Regexp(t, `(?m)^message/busy +replaying `, c.out)
}

func TestDeadListAsJSONHasTheFieldsThatScriptsRelyOn(t *testing.T) {
	t.Parallel()
	c := ask(t, newMorgue(few()[0]), "dead", "list", "-o", "json")
	require.JSONEq(t, `[{"id":"message/b","reason":"rejected","kind":"message","chat_id":"1001","method":"sendMessage",
		"error":"Bad Request: BUTTON_DATA_INVALID","at":"2026-03-04T05:06:07Z","attempts":1,"state":"open","replaying":false,"left":1,
		"delivered":0,"accepted_at":"2026-03-04T05:00:02Z","workflow_id":"dead/7/message/b"}]`, c.out)
}

// acted is a letter that somebody has been at.
func acted() contract.DeadState {
	l := letter("order/17", "1001", 0, contract.ReasonUncertain)
	l.Attempts, l.Left, l.Delivered, l.Deadline = 8, 2, 1, died.Add(time.Hour)
	l.Actions = []contract.DeadAction{{
		What: "replay", By: "ann@desk", Reason: "it was\nmended", At: died.Add(time.Minute), Edited: true, AllowDuplicate: true,
		Calls: []contract.CallResult{{Method: "sendMessage", ChatID: "1001", Outcome: contract.Dead, Reason: contract.ReasonRejected, Error: "no"}},
	}}
	return l
}

func TestDeadShowTellsWhatIsKnownAndWhatWasDone(t *testing.T) {
	t.Parallel()
	local := func(at time.Time) string { return at.Local().Format("2006-01-02 15:04:05") }
	for _, id := range []string{"message/order/17", "dead/7/message/order/17"} {
		c := ask(t, newMorgue(acted()), "dead", "show", id, "--ui", "http://ui")
		require.Zero(t, c.code, c.errout)
		require.Equal(t, `dead letter message/order/17  sendMessage → chat 1001
  state     open: it may have arrived; `+"`durabot dead replay message/order/17 --allow-duplicate`"+`, or discard it
  reason    uncertain: Bad Request: BUTTON_DATA_INVALID
  accepted  `+local(accepted)+`
  died      `+local(died)+`, tried 8 times
  left      2 calls; 1 delivered
  too late  since `+local(died.Add(time.Hour))+`; a replay needs --ttl
  origin    message/7/order/17
  workflow  dead/7/message/order/17
  ui        http://ui/namespaces/default/workflows/dead%2F7%2Fmessage%2Forder%2F17

  `+local(died.Add(time.Minute))+`  replay by ann@desk, edited, a duplicate allowed: it was mended
                       sendMessage → chat 1001: dead (rejected), no
`, c.out)
	}
}

func TestDeadShowKeepsWhatPeopleWroteUnlessItIsAskedFor(t *testing.T) {
	t.Parallel()
	m := newMorgue(acted())
	m.histories["dead/7/message/order/17"] = []*historypb.HistoryEvent{
		began(t, contract.DeadInput{Calls: []contract.Call{{Method: "sendMessage", Params: json.RawMessage(`{"chat_id":1001,"text":"PRIVATE words"}`)}}}, "null"),
		edited(contract.Replay{By: "ann@desk", Edit: json.RawMessage(`{"text":"PRIVATE too"}`)}), edited(contract.Replay{By: "bob@desk"}),
	}
	require.NotContains(t, ask(t, m, "dead", "show", "message/order/17").out, "PRIVATE")
	c := ask(t, m, "dead", "show", "message/order/17", "--payload")
	require.Contains(t, c.out, `"text": "PRIVATE words"`)
	require.Contains(t, c.out, `"text": "PRIVATE too"`)
	c = ask(t, m, "dead", "show", "message/order/17", "--payload", "-o", "json")
	var shown struct {
		Payload struct {
			Edits []struct{ By string }
		}
		Actions []contract.DeadAction
		Origin  string
	}
	require.NoError(t, json.Unmarshal([]byte(c.out), &shown))
	require.Equal(t, "ann@desk", shown.Payload.Edits[0].By)
	require.Len(t, shown.Payload.Edits, 1, "a replay without an edit is none")
	require.Equal(t, acted().Actions[0].By, shown.Actions[0].By)
	require.Equal(t, "message/7/order/17", shown.Origin)
}

func TestDeadShowOfAnUpdateHasTheUpdateByteForByte(t *testing.T) {
	t.Parallel()
	m := newMorgue(few()[2])
	m.histories["dead/7/update/42"] = []*historypb.HistoryEvent{
		began(t, contract.DeadInput{Update: &contract.UpdateInput{UpdateID: 42}}, `{"update_id":42,"big":9007199254740993}`),
	}
	c := ask(t, m, "dead", "show", "update/42", "--payload")
	require.Contains(t, c.out, `"big": 9007199254740993`)
	require.Contains(t, c.out, "left      the update, to be handled again\n")
	require.Contains(t, c.out, "origin    update/7/42\n")
}

func edited(replay contract.Replay) *historypb.HistoryEvent {
	return &historypb.HistoryEvent{
		EventTime: timestamppb.New(died),
		Attributes: &historypb.HistoryEvent_WorkflowExecutionUpdateAcceptedEventAttributes{
			WorkflowExecutionUpdateAcceptedEventAttributes: &historypb.WorkflowExecutionUpdateAcceptedEventAttributes{
				AcceptedRequest: &updatepb.Request{Input: &updatepb.Input{
					Name: contract.ReplayUpdate, Args: &commonpb.Payloads{Payloads: []*commonpb.Payload{encoded(replay)}},
				}},
			},
		},
	}
}

func TestADeadLetterThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	c := ask(t, newMorgue(), "dead", "show", "message/none")
	require.Equal(t, 1, c.code)
	require.Equal(t, "durabot: no dead letter dead/7/message/none in namespace default: see `durabot dead list --all`\n", c.errout)
}
