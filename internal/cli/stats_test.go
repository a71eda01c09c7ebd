package cli_test

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
)

// ask runs a verb about bot 7 on this server.
func ask(t *testing.T, s service, args ...string) console {
	t.Helper()
	return run(t.Context(), map[string]string{"TEMPORAL_ADDRESS": serve(t, s), "DURABOT_BOT": "7"}, args...)
}

func TestStatsTellWhatOnlyTheHolderKnows(t *testing.T) {
	t.Parallel()
	o := onDuty(contract.Figures{UnreachableChats: 12, DeliveredLast24h: 9001, Limiter: contract.LimiterFigures{
		Tokens: 26, InAir: 2, Waiting: map[contract.Priority]int{contract.Normal: 3, contract.Bulk: 1200},
		Penalties: []contract.Penalty{
			{ChatID: "-100", Method: "sendMessage", Until: time.Now().Add(3 * time.Hour)}, {Until: time.Now().Add(-time.Second)},
		},
		Learned: []contract.LearnedRate{{Share: 0.5}, {ChatID: "42", Share: 0.25}},
		Held:    []string{"telegram away"},
	}})
	o.counts = []counted{
		{[]string{"DeadLetterWorkflow", "StartTime"}, 7},
		{[]string{"(TgOutcome IS NULL OR TgOutcome != 'handled')"}, 2},
		{[]string{"MessageWorkflow"}, 1},
		{[]string{"DeadLetterWorkflow"}, 5},
	}
	c := ask(t, o, "stats")
	require.Zero(t, c.code, c.errout)
	for _, line := range []string{
		`on duty      12433@bot-1@ for 1h\S*, since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d, at 127.0.0.1:8080`,
		`sending      held: telegram away`,
		`inbox        2 updates not handled yet`,
		`queue        1 call to send; the oldest waits for \S+`,
		`dead letters 5 open; 7 in the last 24h`,
		`delivered    9001 calls in the last 24h`,
		`waiting      0 urgent, 3 normal, 1200 bulk; 2 in the air; room for 26 this second`,
		`unreachable  12 chats`,
		`penalty      chat -100, sendMessage, ends in (3h0m|2h59m\S*)`,
		`penalty      the bot, is over, one call tries`,
		`learned      the bot at 50 % of its rate`,
		`learned      chat 42 at 25 % of its rate`,
	} {
		require.Regexp(t, `(?m)^`+line+`$`, c.out)
	}
}

func TestStatsAsJSONHaveEveryFieldWhoeverIsOnDuty(t *testing.T) {
	t.Parallel()
	unreported := onDuty(contract.Figures{})
	unreported.beat = nil
	gone := newOffice()
	gone.closed = true
	for name, row := range map[string]struct {
		office *office
		want   string
	}{
		"on duty": {onDuty(contract.Figures{UnreachableChats: 1}), `{"duty":{"holder":"12433@bot-1@","since":"SINCE","address":"127.0.0.1:8080"},
			"limiter":{"global_per_second":0,"paid_per_second":0,"tokens":0,"in_air":0,"waiting":{"urgent":0,"normal":0,"bulk":0},"penalties":[],"learned":[],"held":[]},
			"inbox_unhandled":0,"queue_depth":0,"broadcasts":0,"oldest_pending_age_s":0,"dead_open":0,"dead_last_24h":0,
			"delivered_last_24h":0,"unreachable_chats":1,"paused":null}`},
		"not reported yet": {unreported, `{"duty":{"holder":"12433@bot-1@","since":"SINCE","address":""},"limiter":null,
			"inbox_unhandled":0,"queue_depth":0,"broadcasts":0,"oldest_pending_age_s":0,"dead_open":0,"dead_last_24h":0,"delivered_last_24h":null,"unreachable_chats":null,"paused":null}`},
		"nobody": {newOffice(), `{"duty":null,"limiter":null,
			"inbox_unhandled":0,"queue_depth":0,"broadcasts":0,"oldest_pending_age_s":0,"dead_open":0,"dead_last_24h":0,"delivered_last_24h":null,"unreachable_chats":null,"paused":null}`},
		"never run": {gone, `{"duty":null,"limiter":null,
			"inbox_unhandled":0,"queue_depth":0,"broadcasts":0,"oldest_pending_age_s":0,"dead_open":0,"dead_last_24h":0,"delivered_last_24h":null,"unreachable_chats":null,"paused":null}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := ask(t, row.office, "stats", "-o", "json")
			require.Zero(t, c.code, c.errout)
			var found map[string]any
			require.NoError(t, json.Unmarshal([]byte(c.out), &found))
			if duty, ok := found["duty"].(map[string]any); ok {
				since, err := time.Parse(time.RFC3339, duty["since"].(string))
				require.NoError(t, err)
				require.True(t, since.Equal(row.office.since))
				duty["since"] = "SINCE"
			}
			got, err := json.Marshal(found)
			require.NoError(t, err)
			require.JSONEq(t, row.want, string(got))
		})
	}
}

func TestStatsOfABotThatNobodyRunsSayHowToStartIt(t *testing.T) {
	t.Parallel()
	c := ask(t, newOffice(), "stats")
	require.Zero(t, c.code, c.errout)
	require.Regexp(t, `^on duty      nobody for 1h\S*\n             start .durabot run.\nsending      unknown until a process on duty has reported\n`, c.out)
	gone := newOffice()
	gone.closed = true
	require.Contains(t, ask(t, gone, "stats").out, "nobody: no process has asked for it yet\n")
}

func TestALongListOfPenaltiesIsCutForPeopleAndWholeForScripts(t *testing.T) {
	t.Parallel()
	var f contract.Figures
	for chat := range 25 {
		f.Limiter.Penalties = append(f.Limiter.Penalties, contract.Penalty{ChatID: strconv.Itoa(chat + 1), Until: time.Now().Add(time.Hour)})
	}
	o := onDuty(f)
	c := ask(t, o, "stats")
	require.Contains(t, c.out, "chat 20,")
	require.NotContains(t, c.out, "chat 21,")
	require.Contains(t, c.out, "             and 5 more: see -o json\n")
	require.Contains(t, ask(t, o, "stats", "-o", "json").out, `"chat_id": "25"`)
}

func TestDoctorFindsWhoIsOnDuty(t *testing.T) {
	t.Parallel()
	paused := onDuty(contract.Figures{})
	paused.pause = &contract.Pause{Reason: "maintenance", By: "ann@desk", At: time.Now()}
	for name, row := range map[string]struct {
		office      *office
		level, want string
	}{
		"somebody": {onDuty(contract.Figures{}), "ok", "12433@bot-1@ for 1h"},
		"paused":   {paused, "warning", " by ann@desk: maintenance"},
		"no bot":   {newOffice(), "skipped", "no process to hold it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, c := examine(t, map[string]string{"TEMPORAL_ADDRESS": serve(t, row.office)}, "--bot", "7")
			require.Equal(t, row.level, d.levels()["duty"])
			require.Contains(t, c.out, row.want)
			require.True(t, d.OK, "nothing of this keeps a bot from running")
		})
	}
}

func TestDoctorWarnsWhenAProcessRunsAndNobodyIsOnDuty(t *testing.T) {
	t.Parallel()
	o := newOffice()
	o.pollers = []string{"99@bot-2@"}
	d, c := examine(t, map[string]string{"TEMPORAL_ADDRESS": serve(t, o)}, "--bot", "7")
	require.Equal(t, "ok", d.levels()["workers"])
	require.Equal(t, "warning", d.levels()["duty"])
	require.Contains(t, c.out, "nothing is fetched and nothing is sent")
}
