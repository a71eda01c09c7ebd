package e2e_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/devserver"
	"github.com/durabot/durabot/internal/telegramsim"
)

// G6: no counted call goes to a chat or bot while Telegram's penalty for it
// lasts. Only these tests catch a penalty that is forgotten with the process, or
// with Temporal, that knew of it: they let others want to write to the chat.

func TestG6AChatInPenaltyIsLeftAloneAndTheOthersFlow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().onDuty()
	w.CreateChat(telegramsim.Chat{ID: 1001})
	w.Penalise(1001, 12*time.Second)
	w.SendText(1001, "A")
	refusal := w.refused(1001)
	w.SendText(1001, "B")
	message := w.row(text(1001, "C"))
	for i := range int64(20) {
		w.SendText(2000+i, "hello")
	}
	w.eventually("all are answered", func() bool { return len(w.Ledger(0)) == 23 })
	for i := range int64(20) {
		require.True(t, w.Ledger(2000 + i)[0].Time.Before(over(refusal)), "the others did not wait")
	}
	require.Equal(t, contract.Delivered, w.outcomes(message...)[0].Outcome)
	require.ElementsMatch(t, []string{"re: A", "re: B", "C"}, w.texts(1001))
	require.Equal(t, 1, w.silent(1001))
}

func TestG6APenaltyOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	// Long enough to outlast the change of duty.
	for name, penalty := range map[string]time.Duration{"stopped": 12 * time.Second, "killed": 29 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			holder, other := w.pair()
			w.CreateChat(telegramsim.Chat{ID: 1001})
			w.Penalise(1001, penalty)
			w.SendText(1001, "A")
			refusal := w.refused(1001)
			w.shows("the penalty", func(s stats) bool { return s.Limiter != nil && len(s.Limiter.Penalties) == 1 })
			began := time.Now()
			endings[name].leave(holder)
			_, err := w.enqueue("B", text(1001, "B")) // never refused: only the state tells it to wait
			require.NoError(t, err)
			require.True(t, other.polls(began).Before(over(refusal)), "the successor meets the penalty")
			w.SendText(2000, "hello")
			w.eventually("another chat is answered", func() bool { return len(w.Ledger(2000)) == 1 })
			w.eventually("both are sent", func() bool { return len(w.Ledger(1001)) == 2 })
			require.ElementsMatch(t, []string{"re: A", "B"}, w.texts(1001))
			require.Equal(t, 1, w.silent(1001))
		})
	}
}

func TestG6APenaltyOutlivesARestartOfTemporal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server, err := devserver.Start(t.Context(), devserver.Options{
		Path: shared.cli, DBFile: filepath.Join(w.dir, "temporal.db"), LogFile: filepath.Join(w.dir, "temporal.log"),
	})
	require.NoError(t, err)
	defer func() { server.Stop() }()
	b := w.startVia(server.Addr()).onDuty()
	w.CreateChat(telegramsim.Chat{ID: 1001})
	w.Penalise(1001, 20*time.Second)
	w.SendText(1001, "A")
	w.refused(1001)
	server.Kill()
	server, err = server.Restart(t.Context())
	require.NoError(t, err)
	b.ready()
	w.SendText(1001, "B")
	w.SendText(2000, "hello")
	w.eventually("all are answered", func() bool { return len(w.Ledger(2000)) == 1 && len(w.Ledger(1001)) == 2 })
	require.Equal(t, []string{"re: A", "re: B"}, w.texts(1001))
	require.Equal(t, 1, w.silent(1001))
}

func TestG6A429OnPollingHoldsBackThePollsAndNothingElse(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		wait  time.Duration
		leave func(*bot)
	}{
		"of the same process": {wait: 7 * time.Second, leave: func(*bot) {}},
		"of its successor":    {wait: 15 * time.Second, leave: endings["stopped"].leave},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			holder, _ := w.pair()
			w.CreateChat(telegramsim.Chat{ID: 2000})
			w.Fault(tooMany("getUpdates", fmt.Sprint(row.wait.Seconds())))
			w.SendText(1001, "wake") // ends the poll that waits
			first := func() int { return slices.IndexFunc(w.calls("getUpdates"), isRefused) }
			w.eventually("a poll is refused", func() bool { return first() >= 0 })
			row.leave(holder)
			require.Equal(t, contract.Delivered, w.send(2000, "--text=meanwhile", "--wait").Outcome)
			w.eventually("polling goes on", func() bool { return len(w.calls("getUpdates")) > first()+1 })
			refusal, next := w.calls("getUpdates")[first()], w.calls("getUpdates")[first()+1]
			require.GreaterOrEqual(t, next.Arrived.Sub(refusal.Answered), row.wait)
			require.Less(t, w.Ledger(2000)[0].Time.Sub(refusal.Answered), row.wait, "the message did not wait for it")
			w.confirmed()
		})
	}
}

func TestG6AnyRetryAfterIsUnderstood(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start("--chat-per-second", "0").onDuty()
	w.CreateChat(telegramsim.Chat{ID: 1001})
	rows := []struct {
		written string
		least   time.Duration
	}{
		{"2", 2 * time.Second},
		{"1.5", 1500 * time.Millisecond},
		{`"2"`, 2 * time.Second},
		{"-1", time.Second},
		{"0", time.Second},
		{"null", time.Second},
		{`"soon"`, time.Second},
	}
	for _, row := range rows {
		w.Fault(tooMany("sendMessage", row.written))
		require.Equal(t, contract.Delivered, w.send(1001, "--text=after "+row.written, "--wait").Outcome)
		calls := w.to(1001)
		refusal, again := calls[len(calls)-2], calls[len(calls)-1]
		require.GreaterOrEqual(t, again.Arrived.Sub(refusal.Answered), row.least, row.written)
	}
	require.Len(t, w.to(1001), 2*len(rows))
	w.Fault(tooMany("sendMessage", "99999999999"))
	began := time.Now()
	late := w.send(1001, "--text=too late", "--ttl=60s", "--wait")
	require.Equal(t, contract.Expired, late.Outcome)
	require.Less(t, time.Since(began), 30*time.Second, "at once, not at the end of its time")
	require.Len(t, w.to(1001), 2*len(rows)+1)
	require.Len(t, w.Ledger(1001), len(rows))
}

func TestG6AfterAPenaltyAChatGetsItsRateAndNoBurst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramsLimits)
	w.start().onDuty()
	w.CreateChat(telegramsim.Chat{ID: 1001})
	w.Penalise(1001, 25*time.Second)
	var want []string
	for i := range 10 {
		want = append(want, fmt.Sprintf("no %d", i))
		w.row(text(1001, want[i]))
	}
	w.eventually("all are sent", func() bool { return len(w.Ledger(1001)) == len(want) })
	require.ElementsMatch(t, want, w.texts(1001), "a place in the row is kept for 2 s, which a slow server may miss")
	require.Equal(t, 1, w.silent(1001), "one 429 in all: what waited did not come at once")
	require.LessOrEqual(t, most(w.to(1001), 3*time.Second), 3)
}

func TestG6ALongPenaltyOfOneMethodLetsTheOthersFlow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().onDuty()
	w.CreateChat(telegramsim.Chat{ID: 1001})
	w.Fault(tooMany("sendContact", "90"))
	contact := contract.Call{Method: "sendContact", Params: map[string]any{"chat_id": 1001, "phone_number": "1", "first_name": "C"}}
	waits := w.row(contact)
	w.eventually("it is refused", func() bool { return slices.ContainsFunc(w.calls("sendContact"), isRefused) })
	refusal := w.calls("sendContact")[0]
	for _, said := range []string{"one", "two", "three"} {
		require.Equal(t, contract.Delivered, w.send(1001, "--text="+said, "--wait").Outcome)
	}
	require.Less(t, w.Ledger(1001)[2].Time.Sub(refusal.Answered), time.Minute)
	require.Len(t, w.calls("sendContact"), 1)
	require.True(t, w.open(waits[0]), "it still waits")
}

func TestG6ThreeChatsRefusedAtOnceSilenceTheBot(t *testing.T) {
	t.Parallel()
	// To which extent a 429 holds nobody says, so the first calls to other chats
	// are no fault of the bot's.
	w := newWorld(t, func(o *telegramsim.Options) { o.Limits.PenaltyFactor = 1 })
	w.start().onDuty()
	w.SendText(1000, "hello")
	w.eventually("it is answered", func() bool { return len(w.Ledger(1000)) == 1 })
	w.Penalise(0, 12*time.Second)
	for i := range int64(10) {
		w.SendText(1001+i, "hello")
	}
	w.eventually("all are answered", func() bool { return len(w.Ledger(0)) == 11 })
	var refusals []telegramsim.Request
	chats := map[int64]bool{}
	for _, r := range w.to(0) {
		if isRefused(r) && !chats[r.ChatID] {
			chats[r.ChatID] = true
			refusals = append(refusals, r)
		}
	}
	require.GreaterOrEqual(t, len(refusals), 3)
	third := refusals[2]
	for _, r := range w.to(0) {
		if r.Arrived.After(third.Answered.Add(100 * time.Millisecond)) { // what was in the air by then is
			require.False(t, r.Arrived.Before(over(third)))
		}
	}
}
