package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// G3: the outputs of one handling are decided once. Only this test catches a
// handler that runs again after its first output was sent.

func TestG3OutputsAreDecidedOnceAcrossAKill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.start().ready()
	w.Fault(telegramsim.Fault{Method: "sendMessage", Nth: 2, Times: 1, Kind: telegramsim.FaultHang})
	id := w.SendText(1001, "roll")
	w.eventually("the second call is under way", func() bool { return len(w.calls("sendMessage")) == 2 })
	b.kill()
	w.start()
	res, err := w.update(id)
	require.NoError(t, err)
	require.Len(t, res.Calls, 3)
	decided := map[string]bool{}
	var order []string
	for _, text := range w.texts(1001) {
		fields := strings.Fields(text)
		decided[fields[1]] = true
		order = append(order, fields[2])
	}
	require.Len(t, decided, 1, "all outputs come from one run of the handler")
	require.Equal(t, []string{"first", "second", "third"}, order)
	require.Len(t, w.runs(), 1)
}
