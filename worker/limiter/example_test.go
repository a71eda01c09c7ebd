package limiter_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/durabot/durabot/worker/limiter"
)

// A sender asks before each request, reports a 429, and ends its grant. What must
// wait long comes back as a delay, so that no slot is held meanwhile.
func Example() {
	l := limiter.New(limiter.DefaultConfig())
	ctx := context.Background() // an example has no caller to get one from
	reply := limiter.Request{Chat: 42, Method: "sendMessage", Items: 1, Class: limiter.Normal, Counts: true}

	grant, err := l.Acquire(ctx, reply)
	if err != nil {
		fmt.Println(err)
		return
	}
	l.Penalize(limiter.Scope{Chat: 42, Method: "sendMessage"}, time.Now().Add(time.Minute)) // Telegram answered 429
	grant.Done()

	_, err = l.Acquire(ctx, reply)
	var paced *limiter.Paced
	fmt.Println(errors.As(err, &paced), paced.Delay.Round(time.Second))
	// Output: true 1m0s
}
