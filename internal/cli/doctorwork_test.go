package cli_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/cli"
	"github.com/durabot/durabot/internal/contract"
)

// late is an office in which one call has waited for so long.
func late(o *office, waits time.Duration) *office {
	o.counts = []counted{{[]string{"MessageWorkflow"}, 1}}
	o.waits = waits
	return o
}

func TestDoctorFindsALateQueueAndWhatHoldsIt(t *testing.T) {
	t.Parallel()
	paused := onDuty(contract.Figures{})
	paused.pause = &contract.Pause{Reason: "maintenance", By: "ann@desk", At: time.Now()}
	for name, row := range map[string]struct {
		office      *office
		level, want string
	}{
		"in time": {late(onDuty(contract.Figures{}), 4*time.Minute), "ok", "1 call to send; the oldest waits for 4m"},
		"late":    {late(onDuty(contract.Figures{}), 10*time.Minute), "warning", "see `durabot stats` for what holds it"},
		"paused":  {late(paused, 10*time.Minute), "warning", "sending is paused"},
		"nobody":  {late(newOffice(), 10*time.Minute), "warning", "nobody is on duty"},
		"nothing": {newOffice(), "ok", "0 calls to send"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, c := examine(t, map[string]string{"TEMPORAL_ADDRESS": serve(t, row.office)}, "--bot", "7")
			require.Equal(t, row.level, d.levels()["queue"], c.out)
			require.Contains(t, c.out, row.want)
			d, _ = examine(t, map[string]string{"TEMPORAL_ADDRESS": serve(t, row.office), "DURABOT_LATE_AFTER": "0"}, "--bot", "7")
			require.Equal(t, "ok", d.levels()["queue"], "switched off")
		})
	}
}

func TestDoctorCountsWhatAPersonShouldLookAt(t *testing.T) {
	t.Parallel()
	o := newOffice()
	o.counts = []counted{
		{[]string{"DeadLetterWorkflow", "StartTime"}, 1},
		{[]string{"DeadLetterWorkflow", "'Running'", "TaskQueue = 'durabot-7' AND ExecutionStatus"}, 3},
		{[]string{"'UpdateWorkflow'", "'Running'", "StartTime < '"}, 2},
		{[]string{"'UpdateWorkflow'", "'Failed'", "CloseTime > '"}, 4},
	}
	c := run(t.Context(), map[string]string{"TEMPORAL_ADDRESS": serve(t, o)}, "doctor", "--bot", "7")
	require.Regexp(t, `(?m)^warning  stuck_updates +2 open for over 1h$`, c.out)
	require.Regexp(t, `(?m)^warning  failed_updates +4 in the last 24h$`, c.out)
	require.Regexp(t, `(?m)^warning  dead_letters +3 open, 1 in the last 24h; each waits for a person for 30 days$`, c.out)
	require.Contains(t, c.out, "→ see `durabot dead list`, then `durabot dead replay` or `discard`\n")
}

func TestDoctorNamesWorkflowsThatAreStuck(t *testing.T) {
	t.Parallel()
	o := newOffice()
	o.tasks = map[string]int32{"update/7/1": 1, "update/7/2": 2, "update/7/3": 3, "message/7/late": 40}
	d, c := examine(t, map[string]string{"TEMPORAL_ADDRESS": serve(t, o)}, "--bot", "7")
	require.Equal(t, 1, c.code)
	require.Equal(t, "problem", d.levels()["stuck_workflows"])
	require.Contains(t, c.out, "2 of 4: message/7/late (attempt 40), update/7/3 (attempt 3)")
	delete(o.tasks, "message/7/late")
	delete(o.tasks, "update/7/3")
	d, _ = examine(t, map[string]string{"TEMPORAL_ADDRESS": serve(t, o)}, "--bot", "7")
	require.Equal(t, "ok", d.levels()["stuck_workflows"])
}

func TestDoctorLooksAtTheNewestAndTheOldestOfMany(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"a", "b", "c", "d"}, cli.Ends([]string{"a", "b", "c", "d"}, 2))
	require.Equal(t, []string{"a", "b", "d", "e"}, cli.Ends([]string{"a", "b", "c", "d", "e"}, 2))
}

func TestDoctorGoesOnWhenNothingCanBeCounted(t *testing.T) {
	t.Parallel()
	d, c := examine(t, map[string]string{"TEMPORAL_ADDRESS": (&fakeTemporal{retention: 168 * time.Hour}).start(t)}, "--bot", "7")
	require.Zero(t, c.code)
	for _, name := range []string{"queue", "stuck_workflows", "stuck_updates", "failed_updates", "dead_letters"} {
		require.Equal(t, "warning", d.levels()[name], name)
	}
}

func TestDoctorLooksAtTheFormOfTheHeartbeatsAddressAndKeepsItSecret(t *testing.T) {
	t.Parallel()
	env := map[string]string{"TEMPORAL_ADDRESS": "127.0.0.1:1"}
	for address, level := range map[string]string{
		"https://hc.example.org/ping/SECRET": "ok", "": "ok", "hc.example.org/SECRET": "problem", "ftp://example.org/SECRET": "problem",
		"https://": "problem", "https://%zz/SECRET": "problem",
	} {
		d, c := examine(t, env, "--bot", "7", "--heartbeat-url", address)
		require.Equal(t, level, d.levels()["heartbeat_url"], address)
		require.NotContains(t, c.out+c.errout, "SECRET")
	}
	env["DURABOT_HEARTBEAT_URL"] = "nonsense"
	d, _ := examine(t, env, "--bot", "7")
	require.Equal(t, "problem", d.levels()["heartbeat_url"], "it may come by its variable")
}
