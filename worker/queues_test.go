package worker_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/durabot/durabot/worker"
	"github.com/durabot/durabot/worker/limiter"
)

var silent = slog.New(slog.DiscardHandler)

// staff are workers that write down what they are told.
type staff struct {
	sdkworker.Worker
	name string
	log  *[]string
	err  error
	stop func()
}

func (s *staff) Start() error {
	*s.log = append(*s.log, "start "+s.name)
	return s.err
}

func (s *staff) Stop() {
	*s.log = append(*s.log, "stop "+s.name)
	if s.stop != nil {
		s.stop()
	}
}

func crew(log *[]string) (main, send, answer *staff) {
	return &staff{name: "main", log: log}, &staff{name: "send", log: log}, &staff{name: "answer", log: log}
}

func options() worker.Options {
	return worker.Options{Limits: limiter.DefaultConfig(), Log: silent, Health: ready()}
}

func TestWorkersGetTwentySecondsToStop(t *testing.T) {
	t.Parallel()
	fatal := errors.New("fatal")
	var told error
	for _, o := range []sdkworker.Options{
		worker.MainOptions(func(err error) { told = err }), worker.SendOptions(5, func(err error) { told = err }),
	} {
		require.Equal(t, 20*time.Second, o.WorkerStopTimeout)
		require.Greater(t, o.WorkerStopTimeout, worker.AirTime, "an answer that comes at the last moment is stored")
		told = nil
		o.OnFatalError(fatal)
		require.ErrorIs(t, told, fatal)
	}
}

func TestASenderHasAsManySlotsAsItCanUse(t *testing.T) {
	t.Parallel()
	o := worker.SendOptions(worker.SendSlots, nil)
	air := limiter.DefaultConfig().InFlight
	require.GreaterOrEqual(t, o.MaxConcurrentActivityExecutionSize, 2*28+air)
	require.LessOrEqual(t, o.MaxConcurrentActivityTaskPollers, 4, "each takes a task out of the server's order")
	require.True(t, o.DisableWorkflowWorker)
	require.False(t, worker.MainOptions(nil).DisableWorkflowWorker)
	require.Greater(t, worker.UnlimitedSlots, worker.SendSlots)
}

func TestEverythingIsRegisteredWithoutAServer(t *testing.T) {
	t.Parallel()
	c, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:1", Logger: sdklog.NewStructuredLogger(silent)})
	require.NoError(t, err)
	defer c.Close()
	require.NotPanics(t, func() { worker.Register(c, 7) })
}

func TestSendersStartBeforeThoseWhoGiveThemWork(t *testing.T) {
	t.Parallel()
	var log []string
	main, send, answer := crew(&log)
	require.NoError(t, worker.NewProcess(options(), main, send, answer, nil).Start())
	require.Equal(t, []string{"start answer", "start send", "start main"}, log)
}

func TestHalfAStartIsRolledBack(t *testing.T) {
	t.Parallel()
	var log []string
	main, send, answer := crew(&log)
	main.err = errors.New("no namespace")
	err := worker.NewProcess(options(), main, send, answer, nil).Start()
	require.ErrorIs(t, err, main.err)
	require.ErrorContains(t, err, "start workers: ")
	require.Equal(t, []string{"start answer", "start send", "start main", "stop answer", "stop send"}, log)
}

func TestAStopLetsGoInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log []string
		main, send, answer := crew(&log)
		p := worker.NewProcess(options(), main, send, answer, func() { log = append(log, "cut") })
		done := make(chan struct{})
		main.stop = func() {
			_, err := worker.NewBudget(p.Limiter()).Acquire(t.Context(), want(""))
			require.ErrorContains(t, err, "paced", "nothing is granted any more")
		}
		p.Stop(t.Context(), func() {
			log = append(log, "stop intake")
			time.AfterFunc(time.Second, func() { log = append(log, "intake over"); close(done) })
		}, done)
		require.Equal(t, []string{"stop intake", "intake over", "stop main", "stop send", "stop answer"}, log)
		time.Sleep(time.Hour)
		require.NotContains(t, log, "cut", "what has ended need not be cut")
	})
}

func TestRequestsInTheAirAreCutAfterFifteenSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log []string
		main, send, answer := crew(&log)
		air, cut := context.WithCancel(t.Context())
		defer cut()
		send.stop = func() { <-air.Done() }
		start := time.Now()
		worker.NewProcess(options(), main, send, answer, cut).Stop(t.Context(), nil, nil)
		require.Equal(t, 15*time.Second, time.Since(start))
		require.Equal(t, []string{"stop main", "stop send", "stop answer"}, log)
	})
}
