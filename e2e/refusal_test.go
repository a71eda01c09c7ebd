package e2e_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/devserver"
	"github.com/durabot/durabot/internal/telegramsim"
)

// Temporal may answer and yet be of no use: the credentials have expired, or
// somebody has deleted the namespace. Only these tests catch a process that says
// that all is well, or that stays half alive.

func TestCredentialsThatExpireLoseNothing(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]codes.Code{"expired": codes.Unauthenticated, "withdrawn": codes.PermissionDenied} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := &gateway{}
			b := w.startVia(g.listen(t)).onDuty()
			w.Fault(telegramsim.Fault{Method: "sendMessage", ChatID: 1001, Times: 1, Kind: telegramsim.FaultDelayAfter, Wait: 4 * time.Second})
			id := w.SendText(1001, "once in the air")
			w.eventually("Telegram took it", func() bool { return len(w.Ledger(1001)) == 1 })
			g.refuses.Store(uint32(code))
			began := time.Now()
			w.SendText(1002, "slow 300ms meanwhile")
			w.eventually("the process says so", func() bool { return b.notReady("refuses these credentials") })
			w.pass(began.Add(40 * time.Second))
			w.SendText(1002, "later")
			b.spoke(t, 40*time.Second)
			g.refuses.Store(uint32(codes.OK))
			w.eventually("who wrote meanwhile is answered", func() bool { return len(w.Ledger(1002)) == 2 })
			require.Equal(t, []string{"re: slow 300ms meanwhile", "re: later"}, w.texts(1002))
			res, err := w.update(id)
			require.NoError(t, err)
			require.Equal(t, contract.Delivered, res.Calls[0].Outcome, "its answer was kept")
			require.Len(t, w.Ledger(1001), 1)
			w.dead(0)
			w.eventually("it is well again", func() bool { return b.well() })
			require.False(t, b.ended())
		})
	}
}

func TestASlowTemporalLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	for name, delay := range map[string]time.Duration{"slow": time.Second, "slower than a lease bears": 4 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g := &gateway{}
			b := w.startVia(g.listen(t)).onDuty()
			say := func(n int) {
				for chat := range int64(5) {
					w.SendText(1001+chat, fmt.Sprint(n))
				}
			}
			say(0)
			g.delays.Store(int64(delay))
			began := time.Now()
			for n := 1; n <= 5; n++ {
				say(n)
				w.pass(began.Add(time.Duration(n) * 6 * time.Second))
			}
			g.delays.Store(0)
			for chat := range int64(5) {
				w.eventually("all are answered", func() bool { return len(w.Ledger(1001+chat)) >= 6 })
				require.Equal(t, []string{"re: 0", "re: 1", "re: 2", "re: 3", "re: 4", "re: 5"}, w.texts(1001+chat))
			}
			w.confirmed()
			w.dead(0)
			w.eventually("it is well again", func() bool { return b.well() })
		})
	}
}

// spoke checks that no warning was repeated more often than each 10 s in so long.
func (b *bot) spoke(t *testing.T, within time.Duration) {
	t.Helper()
	times := map[string]int{}
	for _, line := range b.lines() {
		if level := line["level"]; level == "WARN" || level == "ERROR" {
			times[line["msg"].(string)]++
		}
	}
	require.NotEmpty(t, times)
	for message, n := range times {
		require.LessOrEqual(t, n, 1+int(within/(10*time.Second)), message)
	}
}

// inNamespace has a bot live in a namespace of its own, on a server of its own.
func (w *world) inNamespace(name string) (*devserver.Server, *bot) {
	w.t.Helper()
	server := w.ownServer()
	w.t.Cleanup(server.Stop)
	w.env = append(w.env, "TEMPORAL_NAMESPACE="+name)
	w.create(name)
	return server, w.startVia(server.Addr()).onDuty()
}

// create makes a namespace that is ready for a bot.
func (w *world) create(name string) {
	w.t.Helper()
	_, err := w.temporal.WorkflowService().RegisterNamespace(w.t.Context(), &workflowservice.RegisterNamespaceRequest{
		Namespace: name, WorkflowExecutionRetentionPeriod: durationpb.New(72 * time.Hour),
	})
	require.NoError(w.t, err)
	w.eventually("the namespace is there", func() bool { _, code := w.durabot("setup"); return code == 0 })
}

func (w *world) remove(name string) {
	w.t.Helper()
	_, err := w.temporal.OperatorService().DeleteNamespace(w.t.Context(), &operatorservice.DeleteNamespaceRequest{Namespace: name})
	require.NoError(w.t, err)
}

func TestANamespaceThatIsDeletedIsToldAndItsReturnNoticed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server, b := w.inNamespace("bots")
	w.SendText(1001, "before")
	w.eventually("it is answered", func() bool { return len(w.Ledger(1001)) == 1 })
	w.confirmed()
	w.remove("bots")
	w.eventually("the process says so", func() bool { return b.notReady(`no namespace "bots"`) })
	w.SendText(1001, "meanwhile")
	w.create("bots")
	require.Eventually(t, func() bool {
		if b.ended() { // its workers gave up before the server had looked again; a supervisor starts it anew
			require.Equal(t, 1, b.cmd.ProcessState.ExitCode())
			b = w.startVia(server.Addr())
		}
		return len(w.Ledger(1001)) == 2
	}, 5*time.Minute, 100*time.Millisecond, "half alive: see %s", b.log)
	require.Equal(t, []string{"re: before", "re: meanwhile"}, w.texts(1001))
}

func TestAProcessWhoseNamespaceStaysAwayEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server, b := w.inNamespace("bots")
	w.remove("bots")
	require.Eventually(t, b.ended, 5*time.Minute, 100*time.Millisecond, "half alive: see %s", b.log)
	require.Equal(t, 1, b.cmd.ProcessState.ExitCode())
	next := w.startVia(server.Addr()) // as its supervisor would
	next.wait()
	require.Equal(t, 1, next.cmd.ProcessState.ExitCode(), "it says what to do, and ends")
}
