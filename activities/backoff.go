package activities

import "time"

const (
	backoffFirst = 2 * time.Second
	backoffMax   = 10 * time.Minute
	// backoffLeast keeps a repetition after an unknown outcome a second away.
	backoffLeast = time.Second
	// floodMost bounds the wait after 429s that name no delay.
	floodMost = time.Minute
)

// backoff is the wait after the n-th failure (from 1): anywhere up to
// min(10 min, 2 s · 2^(n−1)), at least a second. Random is uniform in [0, 1).
func backoff(n int, random float64) time.Duration {
	limit := backoffMax
	if n < 10 {
		limit = min(backoffMax, backoffFirst<<max(n-1, 0))
	}
	return max(backoffLeast, time.Duration(random*float64(limit)))
}

// floodWait is the wait after a 429: what Telegram named, or, where it named
// nothing, a second that doubles with each such answer. Jitter only adds to it:
// Telegram punishes a request that comes early.
func floodWait(named time.Duration, floods int, random float64) time.Duration {
	wait := named
	if wait <= 0 {
		wait = min(floodMost, time.Second<<min(max(floods-1, 0), 6))
	}
	return wait + time.Duration(random*float64(500*time.Millisecond))
}
