package e2e_test

import (
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/sync/errgroup"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// A deploy: processes of a new build take the place of those of an old one, one
// by one, and a roll back does the same the other way. Only this test catches a
// build that cannot go on with what the other one has begun. `make rolling` runs
// it for longer, with the build of another commit.

var (
	rollingOld  = flag.String("rolling.old", "", "a testbot of an older commit; empty is one of this")
	rollingTime = flag.Duration("rolling.for", 30*time.Second, "how long at least it is rolled out and back")
)

// besides is how long a new process and an old one run beside each other.
const besides = 2 * time.Second

func TestRollingADeployAndItsRollBackLoseAndDoubleNothing(t *testing.T) {
	t.Parallel()
	x := newRolling(t)
	defer x.server.Stop()
	began := time.Now()
	quit := make(chan struct{})
	var load sync.WaitGroup
	stop := sync.OnceFunc(func() { close(quit); load.Wait() })
	defer stop()
	load.Go(func() { x.busy(quit) })
	for time.Since(began) < *rollingTime {
		x.outAndBack()
	}
	stop()
	settled := x.settled()
	x.noTaskFailed()
	require.True(t, settled)
	x.judge()
}

// rolling is a world whose bot is rolled out and back under load.
type rolling struct {
	*crowd
	now, old string  // the builds
	bots     [2]*bot // that run
	rounds   int64
	mails    bool // the old build knows broadcasts
}

func newRolling(t *testing.T) *rolling {
	t.Helper()
	w := newWorld(t, telegramsLimits, func(o *telegramsim.Options) {
		o.Latency = 200 * time.Millisecond // so that there is always something in the air
	})
	x := &rolling{crowd: newCrowd(w), now: shared.testbot, old: *rollingOld}
	if x.old == "" {
		x.old = shared.testbot
	}
	verbs, err := exec.CommandContext(t.Context(), x.old, "--help").Output() //nolint:gosec // our own binary
	require.NoError(t, err)
	x.mails = strings.Contains(string(verbs), "broadcast")
	for i := range x.bots {
		x.bots[i] = x.startBuild(x.old, x.address).ready()
	}
	return x
}

// outAndBack rolls the new build out, and back, with everything under way that can be.
func (x *rolling) outAndBack() {
	x.t.Helper()
	x.rounds++
	if x.mails {
		x.must("broadcast", "start", fmt.Sprint("news-", x.rounds), "--audience", x.audience(x.recipients(), mailedTo), "--text", "news", "--yes")
	}
	x.punished()
	for _, build := range []string{x.now, x.old} {
		letter := x.dies()
		x.replace(build)
		x.must("dead", "replay", letter, "--yes", "--wait")
	}
}

// recipients is the first chat of this round's broadcast.
func (x *rolling) recipients() int64 { return firstMailedTo + x.rounds*mailedTo }

// replace puts processes of a build in the place of those that run, one by one.
func (x *rolling) replace(build string) {
	x.t.Helper()
	for i, b := range x.bots {
		x.bots[i] = x.startBuild(build, x.address).ready()
		x.pass(time.Now().Add(besides))
		endings["stopped"].leave(b)
		x.pass(time.Now().Add(besides))
	}
}

// punished has a chat meet a penalty that outlasts the process which meets it.
func (x *rolling) punished() {
	x.t.Helper()
	chat := firstPunished + x.rounds
	x.CreateChat(telegramsim.Chat{ID: chat})
	x.Penalise(chat, 20*time.Second)
	for _, text := range []string{"hello", "hello again"} {
		x.says(chat, text)
	}
	x.eventually("it is refused", func() bool {
		refused := slices.ContainsFunc(x.to(chat), isRefused)
		if !refused {
			x.Penalise(chat, 20*time.Second)
		}
		return refused
	})
}

// dies has a message die, and returns its letter.
func (x *rolling) dies() string {
	x.t.Helper()
	x.Fault(refuses(deadChat, 1))
	text := fmt.Sprint("letter ", x.keys.Add(1))
	x.expect(deadChat, text)
	res := x.send(deadChat, "--text", text, "--wait")
	require.Equal(x.t, contract.ReasonRejected, res.Reason)
	return res.DeadLetter
}

// settled waits until nothing is left to do, and reports whether that came.
func (x *rolling) settled() bool {
	x.t.Helper()
	return assert.Eventually(x.t, func() bool {
		open, err := x.count("ExecutionStatus = 'Running' AND WorkflowType != '%s'", contract.DutyWorkflow)
		return err == nil && open == 0 && x.Pending() == 0 && len(x.missing()) == 0
	}, 3*time.Minute, 200*time.Millisecond, "everything has ended")
}

// judge compares what everybody was to get with what Telegram saw.
func (x *rolling) judge() {
	x.t.Helper()
	x.crowd.judge()
	for round := int64(1); round <= x.rounds; round++ {
		assert.Equal(x.t, 1, x.silent(firstPunished+round), "refusals of the chat in penalty")
	}
	refused := slices.DeleteFunc(x.to(0), func(r telegramsim.Request) bool { return !isRefused(r) })
	assert.Len(x.t, refused, int(x.rounds), "of 429s there are only those that were arranged")
	for i := range x.rounds * mailedTo {
		chat := firstMailedTo + mailedTo + i
		assert.True(x.t, !x.mails || len(x.Ledger(chat)) == 1, "recipient %d has %d copies", chat, len(x.Ledger(chat)))
	}
	x.oneVoice()
}

// noTaskFailed looks through all histories: a build that cannot go on with what
// another one has begun fails its workflow task, again and again.
func (x *rolling) noTaskFailed() {
	x.t.Helper()
	list := &workflowservice.ListWorkflowExecutionsRequest{Query: fmt.Sprintf("TaskQueue = '%s'", contract.TaskQueue(x.bot)), PageSize: 1000}
	seen := 0
	for page := 0; page == 0 || len(list.NextPageToken) > 0; page++ {
		res, err := x.temporal.ListWorkflow(x.t.Context(), list)
		require.NoError(x.t, err)
		var all errgroup.Group
		all.SetLimit(8)
		for _, info := range res.GetExecutions() {
			all.Go(func() error { return x.taskFailed(info) })
		}
		assert.NoError(x.t, all.Wait())
		seen += len(res.GetExecutions())
		list.NextPageToken = res.GetNextPageToken()
	}
	assert.GreaterOrEqual(x.t, seen, x.asked)
	x.t.Logf("%d rounds, %d workflows", x.rounds, seen)
}

// taskFailed is how workflow tasks of a run failed. That something came while one
// was worked on is none of its failures.
func (x *rolling) taskFailed(info *workflow.WorkflowExecutionInfo) (failed error) {
	run := info.GetExecution()
	events := x.temporal.GetWorkflowHistory(x.t.Context(), run.GetWorkflowId(), run.GetRunId(), false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return err
		}
		f := e.GetWorkflowTaskFailedEventAttributes()
		if f != nil && f.GetCause() != enums.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND {
			failed = errors.Join(failed, fmt.Errorf("%s: %s: %s", run.GetWorkflowId(), f.GetCause(), f.GetFailure().GetMessage()))
		}
	}
	return failed
}
