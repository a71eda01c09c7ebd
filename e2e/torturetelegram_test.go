package e2e_test

import (
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/durabot/durabot/internal/telegramsim"
)

// misbehave has Telegram do what it does.
func (x *torture) misbehave(r *rand.Rand) {
	chat := []int64{
		firstPerson + r.Int64N(people), firstAddressee + r.Int64N(addressees), firstOfMailing + r.Int64N(mailed),
		firstTouched + r.Int64N(boards), firstDrawn + r.Int64N(boards),
	}[r.IntN(5)]
	switch r.IntN(8) {
	case 0:
		x.note("penalty on %d", chat)
		x.Penalise(chat, time.Duration(1+r.IntN(3))*time.Second)
	case 1:
		if r.IntN(4) == 0 {
			x.note("penalty on the bot")
			x.Penalise(0, time.Duration(1+r.IntN(4))*time.Second)
		}
	case 2:
		x.block(r)
	case 3:
		x.migrate()
	default:
		f := faults[r.IntN(len(faults))]
		f.ChatID, f.Times = chat, 1+r.IntN(2)
		if chat >= firstTouched && chat < firstDrawn+boards {
			f.Method = "editMessageText"
		}
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
