package worker_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/durabot/durabot/worker"
	"github.com/durabot/durabot/worker/limiter"
)

var silent = slog.New(slog.DiscardHandler)

func TestWorkersGetTheTimeThatAStopMayTake(t *testing.T) {
	t.Parallel()
	fatal := errors.New("fatal")
	var told error
	tell := func(err error) { told = err }
	for _, o := range []sdkworker.Options{worker.MainOptions(tell), worker.SendOptions(5, tell), worker.DutyOptions(tell)} {
		require.GreaterOrEqual(t, o.WorkerStopTimeout, 20*time.Second)
		require.LessOrEqual(t, o.WorkerStopTimeout, 25*time.Second)
		require.Greater(t, o.WorkerStopTimeout, worker.AirTime, "an answer that comes at the last moment is stored")
		told = nil
		o.OnFatalError(fatal)
		require.ErrorIs(t, told, fatal)
	}
	require.Greater(t, worker.DutyOptions(nil).WorkerStopTimeout, worker.MainOptions(nil).WorkerStopTimeout, "a term stops the others first")
}

func TestAProcessHoldsTheDutyOnce(t *testing.T) {
	t.Parallel()
	require.Equal(t, 1, worker.DutyOptions(nil).MaxConcurrentActivityExecutionSize)
	require.True(t, worker.DutyOptions(nil).DisableWorkflowWorker)
}

func TestASenderHasAsManySlotsAsItCanUse(t *testing.T) {
	t.Parallel()
	cfg := limiter.DefaultConfig()
	require.Equal(t, 2*28+cfg.InFlight, worker.SendSlots(cfg))
	fast := cfg
	fast.GlobalPerSecond = 1000
	require.Equal(t, 2000+cfg.InFlight, worker.SendSlots(fast))
	free := cfg
	free.GlobalPerSecond = 0
	require.Equal(t, worker.UnlimitedSlots, worker.SendSlots(free))
	slow := limiter.Config{GlobalPerSecond: 0.1, InFlight: 1}
	require.GreaterOrEqual(t, worker.SendSlots(slow), 10, "a stuck call must not keep the others from being taken")
	o := worker.SendOptions(7, nil)
	require.Equal(t, 7, o.MaxConcurrentActivityExecutionSize)
	require.LessOrEqual(t, o.MaxConcurrentActivityTaskPollers, 4, "each takes a task out of the server's order")
	require.True(t, o.DisableWorkflowWorker)
	require.False(t, worker.MainOptions(nil).DisableWorkflowWorker)
}

func TestEverythingIsRegisteredWithoutAServer(t *testing.T) {
	t.Parallel()
	c, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:1", Logger: sdklog.NewStructuredLogger(silent)})
	require.NoError(t, err)
	defer c.Close()
	require.NotPanics(t, func() { worker.Register(c, 7) })
}

func TestHalfAStartOfTheSendersIsRolledBack(t *testing.T) {
	t.Parallel()
	var log journal
	no := errors.New("no namespace")
	err := worker.StartSenders(&staff{name: "a", log: &log}, &staff{name: "b", log: &log, err: no}, &staff{name: "c", log: &log})
	require.ErrorIs(t, err, no)
	require.ErrorContains(t, err, "start senders: ")
	require.Equal(t, []string{"start a", "start b", "stop a"}, log.read())
}
