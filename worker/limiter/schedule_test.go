package limiter_test

import (
	"time"

	"pgregory.net/rapid"

	"github.com/durabot/durabot/worker/limiter"
)

// arrival is one step of a random schedule.
type arrival struct {
	after   time.Duration // the one before
	act     act
	req     limiter.Request
	latency time.Duration
	tardy   time.Duration // comes back this late after being paced
	patient time.Duration // gives up after this; 0: never
	cancel  bool
	refused *time.Duration // 429 for so long
	scope   limiter.Scope
}

// act is what an arrival does besides sending.
type act int

const (
	justSend act = iota
	holdBot
	moveGroup
	changeDuty
)

func millis(lo, hi int) *rapid.Generator[time.Duration] {
	return rapid.Map(rapid.IntRange(lo, hi), func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond })
}

func oneIn(t *rapid.T, n int, what string) bool {
	return rapid.IntRange(0, n-1).Draw(t, what) == n-1
}

func drawArrival(t *rapid.T) arrival {
	a := arrival{
		after:   rapid.OneOf(rapid.Just(time.Duration(0)), millis(0, 50), millis(0, 3000)).Draw(t, "after"),
		req:     drawRequest(t),
		latency: rapid.OneOf(rapid.Just(time.Duration(0)), millis(1, 100), millis(0, 8000)).Draw(t, "latency"),
		tardy:   millis(0, 1900).Draw(t, "tardy"),
		cancel:  oneIn(t, 20, "cancel"),
	}
	if oneIn(t, 10, "impatient") {
		a.patient = millis(1, 9000).Draw(t, "patient")
	}
	if oneIn(t, 30, "acts") {
		a.act = act(rapid.IntRange(1, 3).Draw(t, "act"))
	}
	a.scope = limiter.Scope{Chat: a.req.Chat, Method: a.req.Method}
	if a.req.Chat == 0 && rapid.Bool().Draw(t, "bot") {
		a.scope = limiter.Scope{}
	}
	if oneIn(t, 15, "refused") {
		wait := rapid.OneOf(millis(1, 20_000), millis(60_001, 200_000)).Draw(t, "retry after")
		a.refused = &wait
	}
	return a
}

// flows are what random calls belong to.
var flows = []struct {
	name      string
	perSecond float64
}{{"", 0}, {"", 0}, {"news", 0}, {"slow", 0.5}, {"quick", 7}}

func drawRequest(t *rapid.T) limiter.Request {
	req := limiter.Request{
		Chat:   rapid.SampledFrom([]int64{1, 1, 2, 3, 4, -1, -1, -2, 0}).Draw(t, "chat"),
		Method: rapid.SampledFrom([]string{"sendMessage", "sendMessage", "sendContact", "editMessageText", "sendChatAction"}).Draw(t, "method"),
		Items:  rapid.SampledFrom([]int{1, 1, 1, 1, 1, 1, 2, 3, 10}).Draw(t, "items"),
		Class:  limiter.Class(rapid.IntRange(0, 2).Draw(t, "class")),
		Counts: rapid.IntRange(0, 9).Draw(t, "counts") > 0,
	}
	flow := rapid.SampledFrom(flows).Draw(t, "flow")
	req.Flow, req.FlowPerSecond = flow.name, flow.perSecond
	if req.Flow != "" {
		req.Class, req.Items = limiter.Bulk, 1 // the pace of more is not handed over
	}
	req.Paid = req.Flow == "quick" || req.Flow == "" && oneIn(t, 3, "paid")
	switch req.Method {
	case "editMessageText":
		req.Edits = rapid.SampledFrom([]string{"", "editMessageText/1", "editMessageText/2"}).Draw(t, "edits")
	case "sendChatAction":
		req.Transient = true
	}
	if req.Chat == 0 {
		req.Method, req.Edits = "getFile", ""
	}
	if req.Chat == 0 || !req.Counts {
		req.Edits = ""
	}
	return req
}
