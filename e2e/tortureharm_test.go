package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// clock is how times are written.
const clock = "15:04:05.000"

// hurt does something to a process or to the way between two.
func (x *torture) hurt(r *rand.Rand) {
	i := r.IntN(len(x.bots))
	x.harms = append(x.harms, time.Now())
	length := time.Second + time.Duration(r.Int64N(int64(5*time.Second)))
	switch r.IntN(8) {
	case 0, 1:
		x.note("kill bot %d", i)
		x.bots[i].kill()
		x.bots[i] = x.fresh()
	case 2:
		x.note("stop bot %d", i)
		code, _ := x.bots[i].stop()
		require.Zero(x.t, code, "a stop in the middle of it all")
		x.bots[i] = x.fresh()
	case 3:
		length *= 4 // longer than a lease
		x.note("freeze bot %d for %s", i, length)
		x.bots[i].signal(syscall.SIGSTOP)
		x.pass(time.Now().Add(length))
		x.bots[i].signal(syscall.SIGCONT)
	case 4:
		x.note("kill Temporal")
		x.server.Kill()
		var err error
		x.server, err = x.server.Restart(x.t.Context())
		require.NoError(x.t, err)
	case 5:
		x.note("freeze Temporal for %s", length)
		require.NoError(x.t, syscall.Kill(x.server.Pid(), syscall.SIGSTOP))
		x.pass(time.Now().Add(length))
		require.NoError(x.t, syscall.Kill(x.server.Pid(), syscall.SIGCONT))
	case 6:
		x.note("no way to Temporal for %s", length)
		x.wire.cut()
		x.pass(time.Now().Add(length))
		x.wire.reopen()
	case 7:
		x.note("no way to Telegram for %s", length)
		x.road.cut()
		x.pass(time.Now().Add(length))
		x.road.reopen()
	}
	linger(r, time.Second, 4*time.Second)
}

// misbehave has Telegram do what it does.
func (x *torture) misbehave(r *rand.Rand) {
	chat := []int64{firstPerson + r.Int64N(people), firstAddressee + r.Int64N(addressees), firstOfMailing + r.Int64N(mailed)}[r.IntN(3)]
	switch r.IntN(8) {
	case 0:
		x.note("penalty on %d", chat)
		x.Penalise(chat, time.Duration(1+r.IntN(3))*time.Second)
	case 1:
		if r.IntN(4) == 0 {
			x.note("penalty on the bot")
			x.Penalise(0, time.Second)
		}
	case 2:
		x.block(r)
	case 3:
		x.migrate()
	default:
		f := faults[r.IntN(len(faults))]
		f.ChatID, f.Times = chat, 1+r.IntN(2)
		x.note("%s %d on %d", f.Kind, f.Status, chat)
		x.Fault(f)
	}
	linger(r, 200*time.Millisecond, 800*time.Millisecond)
}

// faults are answers before and after Telegram took a message, and none.
var faults = []telegramsim.Fault{
	{Method: "sendMessage", Kind: telegramsim.FaultRefuse},
	{Method: "sendMessage", Kind: telegramsim.FaultStatus, Status: http.StatusBadGateway},
	{Method: "sendMessage", Kind: telegramsim.FaultStatus, Status: http.StatusInternalServerError, Body: `{"ok":false,"error_code":500,"description":"Internal Server Error: restart"}`},
	{Method: "sendMessage", Kind: telegramsim.FaultDelay, Wait: 2 * time.Second},
	{Method: "sendMessage", Kind: telegramsim.FaultReset},
	{Method: "sendMessage", Kind: telegramsim.FaultStatusAfter, Status: http.StatusBadGateway},
	{Method: "sendMessage", Kind: telegramsim.FaultHalfBody},
	{Method: "sendMessage", Kind: telegramsim.FaultGarbage},
	{Method: "sendMessage", Kind: telegramsim.FaultDelayAfter, Wait: 2 * time.Second},
}

// block has a fickle person block the bot, or come back.
func (x *torture) block(r *rand.Rand) {
	chat := fickle[r.IntN(len(fickle))]
	if r.IntN(2) == 0 {
		x.note("%d blocks", chat)
		x.Block(chat)
		return
	}
	x.note("%d comes back", chat)
	x.Unblock(chat)
}

// migrate makes the group a supergroup, once.
func (x *torture) migrate() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.moved == 0 {
		x.note("the group moves")
		x.moved = x.Migrate(torturedGroup)
	}
}

// note keeps what was done, for whoever reads why a torture failed.
func (x *torture) note(format string, args ...any) {
	x.t.Log(time.Now().Format(clock), fmt.Sprintf(format, args...))
}
