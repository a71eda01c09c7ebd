package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// A stop must lose and double nothing and be over in time.

func TestStopEndsInTimeAndLosesNothing(t *testing.T) {
	t.Parallel()
	for intake, begin := range map[string]func(*testing.T) (*world, func() *bot){
		"polling": func(t *testing.T) (*world, func() *bot) {
			w := newWorld(t)
			return w, func() *bot { return w.start(stopFlags...) }
		},
		"webhook": func(t *testing.T) (*world, func() *bot) {
			w, lb := hooked(t)
			return w, func() *bot { return lb.start(w, stopFlags...) }
		},
	} {
		for who, leaving := range map[string]func(holder, other *bot) []*bot{
			"the one on duty": func(holder, _ *bot) []*bot { return []*bot{holder} },
			"a stand-by":      func(_, other *bot) []*bot { return []*bot{other} },
			"both":            func(holder, other *bot) []*bot { return []*bot{holder, other} },
		} {
			t.Run(intake+", "+who, func(t *testing.T) {
				t.Parallel()
				w, start := begin(t)
				s := &stopping{world: w, holder: start().duty()}
				s.other = start().standBy()
				s.busy()
				s.leave(leaving(s.holder, s.other)...)
				s.rest()
				start()
				s.judge()
			})
		}
	}
}

// stopFlags make a bot that has something left to do: handlers that take longer,
// and a rate at which calls wait.
var stopFlags = []string{"--handler-timeout", "20s", "--global-per-second", "10"}

// duty waits until the process is on duty, however it takes updates.
func (b *bot) duty() *bot {
	b.w.t.Helper()
	b.w.eventually("the process is on duty: see "+b.log, func() bool {
		_, text := b.get("/readyz")
		return strings.Contains(text, "this process is on duty") && strings.HasPrefix(text, "ready")
	})
	return b
}

// stopping is a world of which something is stopped in the middle of everything.
type stopping struct {
	*world
	holder, other *bot
	updates       int
}

const (
	firstSlow = 1000 // of 20 chats whose handlers take long
	albumChat = 4000 // who sends an album
)

// busy has 20 handlers run, 50 sends wait, one request be in the air, half an
// album be received, and connections be kept alive.
func (s *stopping) busy() {
	s.t.Helper()
	for chat := range int64(20) {
		s.SendText(firstSlow+chat, "slow 6s")
	}
	s.CreateChat(telegramsim.Chat{ID: albumChat})
	for i := range int64(50) {
		s.CreateChat(telegramsim.Chat{ID: 5000 + i})
	}
	s.Fault(telegramsim.Fault{Method: "sendMessage", ChatID: inTheAir, Times: 1, Kind: telegramsim.FaultDelayAfter, Wait: 5 * time.Second})
	s.SendText(inTheAir, "in the air")
	s.album(1, 2)
	s.updates = 20 + 1 + 2
	s.eventually("the handlers run", func() bool { return len(s.runs()) == s.updates })
	s.eventually("one is in the air", func() bool { return len(s.Ledger(inTheAir)) == 1 })
	s.bulk(50, func(i int) contract.Call { return text(5000+int64(i), "queued") })
	for _, b := range []*bot{s.holder, s.other} {
		b.keepAlive()
	}
}

// album sends pictures of one album.
func (s *stopping) album(from, to int) {
	for n := from; n <= to; n++ {
		s.Push(json.RawMessage(fmt.Sprintf(`{"message":{"message_id":%d,"date":1,"chat":{"id":%d,"type":"private"},
			"from":{"id":%d,"is_bot":false,"first_name":"Ann"},"media_group_id":"1","photo":[],"caption":"picture %d"}}`, 100+n, albumChat, albumChat, n)))
	}
}

// keepAlive leaves a connection open on which something was asked.
func (b *bot) keepAlive() {
	b.w.t.Helper()
	conn, err := net.Dial("tcp", b.logged("listening", "address")) //nolint:noctx // closed below
	require.NoError(b.w.t, err)
	b.w.t.Cleanup(func() { _ = conn.Close() })
	_, err = conn.Write([]byte("GET /healthz HTTP/1.1\r\nHost: bot\r\n\r\n"))
	require.NoError(b.w.t, err)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(b.w.t, err)
	require.NoError(b.w.t, res.Body.Close())
	require.False(b.w.t, res.Close, "it stays open")
}

// leave stops processes at once.
func (s *stopping) leave(all ...*bot) {
	s.t.Helper()
	began := time.Now()
	for _, b := range all {
		b.signal(syscall.SIGTERM)
	}
	for _, b := range all {
		b.wait()
		require.Zero(s.t, b.cmd.ProcessState.ExitCode())
		require.Less(s.t, time.Since(began), 25*time.Second)
		require.Empty(s.t, b.asked("getUpdates", began.Add(time.Second+slack)), "intake ended at once")
	}
}

// rest is what comes after the stop.
func (s *stopping) rest() {
	s.album(3, 4)
	s.updates += 2
}

// judge: each update was handled once, and all that was to be sent is there once.
func (s *stopping) judge() {
	s.t.Helper()
	s.eventually("all is sent", func() bool { return len(s.Ledger(0)) >= 20+1+4+50 })
	s.confirmed()
	for chat := range int64(20) {
		require.Equal(s.t, []string{"re: slow 6s"}, s.texts(firstSlow+chat))
	}
	require.Equal(s.t, []string{"re: in the air"}, s.texts(inTheAir), "its answer was stored")
	require.Equal(s.t, []string{"re: picture 1", "re: picture 2", "re: picture 3", "re: picture 4"}, s.texts(albumChat))
	for i := range int64(50) {
		require.Equal(s.t, []string{"queued"}, s.texts(5000+i))
	}
	require.Len(s.t, s.runs(), s.updates)
	s.oneVoice()
}

func TestStopASecondSignalEndsTheProcessAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	holder, other := w.pair("--handler-timeout", "60s")
	for chat := range int64(8) {
		w.SendText(1001+chat, "slow 50s")
	}
	w.eventually("the handlers run", func() bool { return len(w.runs()) == 8 })
	for _, b := range []*bot{other, holder} {
		b.signal(syscall.SIGTERM)
		w.eventually("it is stopping", func() bool { return b.notReady("stopping") })
		require.False(t, b.ended(), "it waits for its handlers")
		b.signal(syscall.SIGTERM)
		began := time.Now()
		b.wait()
		require.Less(t, time.Since(began), 5*time.Second)
	}
}

func TestStopANewBotWaitsForTemporalAndFetchesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.SendText(1001, "hello")
	wire := w.wire()
	wire.cut()
	began := time.Now()
	b, other := w.startVia(wire.addr), w.startVia(wire.addr)
	for _, one := range []*bot{b, other} {
		w.eventually("it is alive", func() bool { status, _ := one.get("/healthz"); return status == http.StatusOK })
	}
	w.eventually("it says what it waits for", func() bool {
		status, text := b.get("/readyz")
		require.Equal(t, http.StatusServiceUnavailable, status)
		return strings.Contains(text, "TEMPORAL_ADDRESS")
	})
	code, _ := other.stop()
	require.Zero(t, code)
	w.pass(began.Add(25 * time.Second))
	b.spoke(t, 25*time.Second)
	require.Empty(t, w.calls("getUpdates"))
	wire.reopen()
	w.eventually("it is answered", func() bool { return len(w.Ledger(1001)) == 1 })
}
