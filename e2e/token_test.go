package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A token is replaced by starting a process that has the new one. Only this test
// catches a process that keeps the duty with a token that Telegram refuses.

func TestTokenAProcessWithTheNewOneTakesOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.start().onDuty()
	before := w.SendText(1001, "slow 3s")
	w.eventually("it is being handled", func() bool { return len(w.runs()) == 1 })
	w.token = newToken(w.bot)
	require.NoError(t, w.SetToken(w.token))
	w.eventually("the old process is not ready", func() bool { return old.notReady("") })
	since := w.SendText(1002, "while nobody listens")
	started := time.Now()
	w.inTime(started, w.start().polls(started), afterAKill)
	for _, id := range []int64{before, since} {
		_, err := w.update(id)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"re: slow 3s"}, w.texts(1001), "the queue was kept, and nothing doubled")
	require.Equal(t, []string{"re: while nobody listens"}, w.texts(1002))
	require.Empty(t, old.asked("getUpdates", started), "the old one polls nothing")
	require.Empty(t, old.asked("sendMessage", started), "and sends nothing")
	require.True(t, old.notReady(""), "it can do nothing for the bot")
	status, _ := old.get("/healthz")
	require.Equal(t, http.StatusOK, status, "a restart would mend nothing")
	w.oneVoice()
}
