package e2e_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// tooMany is one 429 on a method, with retry_after as it is written in JSON.
func tooMany(method, retryAfter string) telegramsim.Fault {
	return telegramsim.Fault{
		Method: method, Times: 1, Kind: telegramsim.FaultStatus, Status: http.StatusTooManyRequests,
		Body: fmt.Sprintf(`{"ok":false,"error_code":429,"description":"Too Many Requests","parameters":{"retry_after":%s}}`, retryAfter),
	}
}

// to are the requests that spend a chat's budget, in order of arrival; chat 0 is
// the whole bot.
func (w *world) to(chat int64) []telegramsim.Request {
	var all []telegramsim.Request
	for _, r := range w.Requests() {
		method := strings.ToLower(r.Method)
		counts := strings.HasPrefix(method, "send") || strings.HasPrefix(method, "edit")
		if counts && (chat == 0 || r.ChatID == chat) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b telegramsim.Request) int { return a.Arrived.Compare(b.Arrived) })
	return all
}

// refused waits for a chat's first 429 and returns it.
func (w *world) refused(chat int64) telegramsim.Request {
	w.t.Helper()
	var first telegramsim.Request
	w.eventually("a call is refused", func() bool {
		i := slices.IndexFunc(w.to(chat), isRefused)
		if i >= 0 {
			first = w.to(chat)[i]
		}
		return i >= 0
	})
	return first
}

func isRefused(r telegramsim.Request) bool { return r.Status == http.StatusTooManyRequests }

// over is when a 429 allows the next call, counted from its answer.
func over(r telegramsim.Request) time.Time {
	return r.Answered.Add(time.Duration(r.RetryAfter) * time.Second)
}

// silent checks that each 429 of a chat was followed by as long a silence as it
// asked for, and returns how many there were.
func (w *world) silent(chat int64) int {
	w.t.Helper()
	count := 0
	calls := w.to(chat)
	for i, r := range calls {
		if !isRefused(r) {
			continue
		}
		count++
		if i+1 < len(calls) {
			require.False(w.t, calls[i+1].Arrived.Before(over(r)), "%s after a 429 of %d s", calls[i+1].Arrived.Sub(r.Answered), r.RetryAfter)
		}
	}
	require.Zero(w.t, w.Violations(), "a penalty was ignored")
	return count
}

// obeyed checks that Telegram refused nothing.
func (w *world) obeyed() {
	w.t.Helper()
	require.Zero(w.t, w.Violations())
	require.False(w.t, slices.ContainsFunc(w.Requests(), isRefused), "there was a 429")
}

// most is the largest number of requests that arrived within any span. One that
// arrives a whole span after another is no longer in the same.
func most(requests []telegramsim.Request, span time.Duration) int {
	top, first := 0, 0
	for i, r := range requests {
		for !r.Arrived.Before(requests[first].Arrived.Add(span)) {
			first++
		}
		top = max(top, i-first+1)
	}
	return top
}
