package e2e_test

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Duty: one process at a time talks to Telegram for a bot, and another one takes
// over in time (part of G11). Only these tests catch two processes that poll or
// send at once, and a bot that nobody runs: they take the holder away in each
// way and tell the processes apart at Telegram's door.

func TestDutyPassesOnInTimeHoweverItsHolderEnds(t *testing.T) {
	t.Parallel()
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			holder, other := w.pair()
			_, err := w.update(w.SendText(1001, "before"))
			require.NoError(t, err, "its outcome is known: what is in the air may be doubled")
			began := time.Now()
			end.leave(holder)
			left := time.Now()
			w.SendText(1001, "after")
			w.inTime(left, other.polls(began), end.bound)
			w.eventually("it is answered, too", func() bool { return len(w.Ledger(1001)) == 2 })
			require.Equal(t, []string{"re: before", "re: after"}, w.texts(1001))
			require.Len(t, w.runs(), 2)
			w.oneVoice()
		})
	}
}

func TestDutyAResumedProcessIsSilentUntilItIsItsTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	holder, other := w.pair()
	w.SendText(1001, "many 40") // at one a second there is much left to send
	w.eventually("some are sent", func() bool { return len(w.Ledger(1001)) >= 5 })
	holder.signal(syscall.SIGSTOP)
	froze := time.Now()
	other.polls(froze)
	w.pass(froze.Add(20 * time.Second))
	resumed := time.Now()
	holder.signal(syscall.SIGCONT)
	holder.standBy()
	w.eventually("all are sent", func() bool { return w.last(1001) == "re: 40 of 40" })
	require.Empty(t, holder.asked("", resumed), "it asked nothing of Telegram")
	require.Equal(t, replies(40), slices.Compact(w.texts(1001)), "only what was in the air may be doubled")
	died := time.Now()
	other.kill()
	w.inTime(died, holder.polls(died), afterAKill)
	w.oneVoice()
}

func TestDutyAHolderWithoutTemporalFallsSilentAndIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wire := w.wire()
	holder := w.startVia(wire.addr).onDuty()
	other := w.start().standBy()
	w.SendText(1001, "many 40")
	w.eventually("some are sent", func() bool { return len(w.Ledger(1001)) >= 5 })
	wire.cut()
	cut := time.Now()
	w.SendText(1002, "meanwhile")
	w.inTime(cut, other.polls(cut), afterAKill)
	w.eventually("the other one answers", func() bool { return len(w.Ledger(1002)) == 1 })
	w.pass(cut.Add(30 * time.Second))
	wire.reopen()
	holder.standBy()
	w.eventually("all are sent", func() bool { return w.last(1001) == "re: 40 of 40" })
	require.Empty(t, holder.asked("getUpdates", cut.Add(4*time.Second+slack)), "no poll after 4 s")
	require.Empty(t, holder.asked("", cut.Add(12*time.Second+slack)), "no request after 12 s")
	require.Equal(t, replies(40), slices.Compact(w.texts(1001)))
	w.oneVoice()
}

// slack is the time from the decision to send to the arrival, on a busy machine.
const slack = time.Second

func TestDutyAChatKeepsItsOrderAcrossAHandOver(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"stopped", "killed"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			holder, other := w.pair()
			want := w.eight()
			w.eventually("two are answered", func() bool { return len(w.Ledger(1001)) >= 2 })
			began := time.Now()
			endings[name].leave(holder)
			for _, text := range []string{"ninth", "tenth"} {
				w.SendText(1001, text)
				want = append(want, "re: "+text)
			}
			other.polls(began)
			w.eventually("all are answered", func() bool { return w.last(1001) == "re: tenth" })
			got := w.texts(1001)
			if !endings[name].clean {
				got = slices.Compact(got) // what was in the air may be doubled
			}
			require.Equal(t, want, got)
			w.oneVoice()
		})
	}
}

func TestDutyAProcessThatStandsByRunsHandlersThatAreNotQuick(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pair("--handler-timeout", "30s")
	const n = 30
	for chat := range int64(n) {
		w.SendText(1001+chat, "who")
	}
	w.eventually("all are answered", func() bool { return len(w.Ledger(0)) == n })
	by := map[string]int{}
	for _, text := range w.texts(0) {
		by[text]++
	}
	require.Len(t, by, 2, "%v", by)
}

func TestDutyThreeReplicasTakeItInTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	holder, second := w.pair()
	waiting := []*bot{second, w.start().standBy()}
	for i, name := range []string{"killed", "stopped"} {
		began := time.Now()
		endings[name].leave(holder)
		left := time.Now()
		w.SendText(1001+int64(i), "hello")
		holder = w.successor(began, waiting...)
		w.inTime(left, holder.polls(began), endings[name].bound)
		waiting = slices.DeleteFunc(waiting, func(b *bot) bool { return b == holder })
		w.eventually("it is answered", func() bool { return len(w.Ledger(1001+int64(i))) == 1 })
		for _, b := range waiting {
			require.Empty(t, b.asked("getUpdates", time.Time{}), "the other one stands by")
			require.Empty(t, b.asked("sendMessage", time.Time{}))
		}
	}
	require.Len(t, w.Ledger(0), 2)
	w.oneVoice()
}

func TestDutyASingleProcessThatIsKilledAndRestartedIsDeafForTwentySeconds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().onDuty().kill()
	died := time.Now()
	w.SendText(1001, "hello")
	w.inTime(died, w.start().polls(died), afterAKill)
	w.eventually("it is answered", func() bool { return len(w.Ledger(1001)) == 1 })
	w.oneVoice()
}

func TestDutyAProcessThatMayNotHoldItNeverAsksTelegram(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	helper := w.start("--no-duty").ready()
	w.eventually("it says that nobody has the duty", func() bool { return helper.notReady("duty") })
	w.start().onDuty()
	helper.ready()
	w.SendText(1001, "hello")
	w.eventually("it is answered", func() bool { return len(w.Ledger(1001)) == 1 })
	require.Empty(t, helper.asked("", time.Time{}))
}

func TestDutyStatsNamesItsHolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := time.Now()
	holder, other := w.pair()
	w.shows("the holder", func(s stats) bool { return s.of(holder) && s.Limiter != nil })
	s := w.stats()
	require.Equal(t, holder.logged("listening", "address"), s.Duty.Address)
	require.WithinRange(t, s.Duty.Since, before, time.Now())
	holder.stop()
	w.shows("its successor", func(s stats) bool { return s.of(other) })
}
