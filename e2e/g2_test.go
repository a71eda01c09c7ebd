package e2e_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// G2: no update is handled twice. Only these tests catch a redelivery that a
// real Telegram makes after a restart, and that no unit test of the inbox sees.

func TestG2RestartsDoNotAnswerAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var last int64
	for _, text := range []string{"one", "two", "three"} {
		last = w.SendText(1001, text)
	}
	for range 3 {
		w.ClearFaults()
		w.Fault(telegramsim.Fault{Method: "getUpdates", Nth: 2, Times: 1000, Kind: telegramsim.FaultHang})
		polls := len(w.calls("getUpdates"))
		b := w.start()
		w.eventually("the batch came again", func() bool { return len(w.calls("getUpdates")) >= polls+2 })
		w.eventually("all are answered", func() bool { return len(w.Ledger(1001)) >= 3 })
		_, err := w.update(last)
		require.NoError(t, err)
		b.kill()
	}
	w.ClearFaults()
	b := w.start()
	w.confirmed()
	require.Equal(t, last+1, w.Confirmed())
	require.Equal(t, []string{"re: one", "re: two", "re: three"}, w.texts(1001))
	require.Len(t, w.runs(), 3)
	b.kill()
}

func TestG2AStoppedBotConfirmsWhatItStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.start().onDuty()
	// The poll after this one never gets an answer, so only the last request can confirm.
	w.Fault(telegramsim.Fault{Method: "getUpdates", Nth: 2, Times: 1, Kind: telegramsim.FaultHang})
	id := w.SendText(1001, "hello")
	w.eventually("it is answered", func() bool { return len(w.Ledger(1001)) == 1 })
	code, took := b.stop()
	require.Zero(t, code)
	require.Less(t, took, 25*time.Second)
	require.Equal(t, id+1, w.Confirmed())
	require.Zero(t, w.Pending())
}

func TestG2ARedeliveryAfterTheEndIsKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.SendText(1001, "first")
	const event = `"message":{"message_id":7,"date":1,"chat":{"id":1001,"type":"private"},"from":{"id":1001,"is_bot":false,"first_name":"T"},"text":"hello"}}`
	id := w.Push([]byte("{" + event))
	_, err := w.update(id)
	require.NoError(t, err)
	w.confirmed()
	for range 3 {
		require.Equal(t, id, w.Push(fmt.Appendf(nil, `{"update_id":%d,%s`, id, event)))
		w.confirmed()
	}
	w.SendText(1001, "last")
	w.eventually("the last is answered", func() bool { return slices.Contains(w.texts(1001), "re: last") })
	require.Equal(t, []string{"re: first", "re: hello", "re: last"}, w.texts(1001))
	require.Len(t, w.runs(), 3)
}
