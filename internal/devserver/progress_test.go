package devserver

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLogGetsOneLineEachHalfMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := &lockedBuffer{}
		report := startProgress(out, "building", func() string { return "7 packages" })
		<-time.After(65 * time.Second)
		report.stop(true)
		require.Equal(t, []string{
			"building: 0 s, 7 packages",
			"building: 30 s, 7 packages",
			"building: 60 s, 7 packages",
			"building: done in 65 s",
			"",
		}, strings.Split(out.String(), "\n"))
	})
}

func TestTerminalGetsASpinnerThatIsWipedAtTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := &lockedBuffer{}
		p := &progress{
			out: out, title: "building", state: func() string { return "busy" }, terminal: true,
			began: time.Now(), quit: make(chan struct{}), ended: make(chan struct{}),
		}
		go p.run()
		<-time.After(frameEvery + frameEvery/2)
		p.stop(false)
		require.Equal(t, "\r\x1b[K| building: 0 s, busy\r\x1b[K/ building: 0 s, busy\r\x1b[K", out.String())
	})
}

func TestBufferIsNoTerminal(t *testing.T) {
	t.Parallel()
	require.False(t, isTerminal(&lockedBuffer{}))
}
