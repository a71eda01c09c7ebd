package e2e_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// What Telegram answered while Temporal was away must not be asked again, and
// what became of a message must be found by it (part of G5). Only these tests
// catch an answer that lives as long as a connection, or a term, does.

func TestG5AnAnswerOutlivesAnOutageOfTemporal(t *testing.T) {
	t.Parallel()
	// The longer one costs the send its heartbeat, and the process its duty.
	for name, outage := range map[string]time.Duration{"short": 12 * time.Second, "long": 25 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			wire := w.wire()
			w.startVia(wire.addr).onDuty()
			w.Fault(telegramsim.Fault{Method: "sendMessage", Times: 1, Kind: telegramsim.FaultDelayAfter, Wait: 6 * time.Second})
			id := w.SendText(1001, "once in the air")
			w.eventually("Telegram took it", func() bool { return len(w.Ledger(1001)) == 1 })
			wire.cut()
			cut := time.Now()
			w.eventually("it is answered", func() bool { return !w.to(1001)[0].Answered.IsZero() })
			w.pass(cut.Add(outage))
			wire.reopen()
			res, err := w.update(id)
			require.NoError(t, err)
			require.Equal(t, contract.Delivered, res.Calls[0].Outcome)
			require.Len(t, w.to(1001), 1)
		})
	}
}

func TestG5EveryOutcomeIsFoundByItsName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().onDuty()
	for _, chat := range []int64{1001, 1002, 1003, 1004} {
		w.CreateChat(telegramsim.Chat{ID: chat})
	}
	for _, chat := range []int64{1001, 1002, 1005} {
		w.Fault(telegramsim.Fault{Method: "sendMessage", ChatID: chat, Times: 1, Kind: telegramsim.FaultReset})
	}
	unknown := w.row(text(1001, "twice"))
	atMostOnce := text(1002, "at most once")
	atMostOnce.Delivery = contract.AtMostOnce
	uncertain := w.row(atMostOnce)
	w.Block(1003)
	blocked := w.row(text(1003, "to nobody"))
	w.send(1004, "--text=fine", "--wait")
	ends := w.outcomes(unknown[0], uncertain[0], blocked[0])
	require.Equal(t, contract.Delivered, ends[0].Outcome)
	require.True(t, ends[0].PossibleDuplicate)
	require.Equal(t, contract.ReasonUncertain, ends[1].Reason)
	require.Equal(t, contract.Unreachable, ends[2].Outcome)
	for _, outcome := range []string{contract.OutcomeDuplicate, string(contract.ReasonUncertain), string(contract.Unreachable)} {
		w.eventually("one is found as "+outcome, func() bool { return w.found(contract.MessageWorkflow, outcome) == 1 })
	}
	_, err := w.update(w.SendText(1005, "once as well"))
	require.Error(t, err)
	w.eventually("so is an update", func() bool { return w.found(contract.UpdateWorkflow, string(contract.ReasonUncertain)) == 1 })
	require.Zero(t, w.found(contract.MessageWorkflow, string(contract.Delivered)), "what ended as it should has no mark")
}
