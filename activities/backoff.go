package activities

import "time"

const (
	backoffFirst = 2 * time.Second
	backoffMax   = 10 * time.Minute
	// backoffLeast keeps a repetition after an unknown outcome a second away.
	backoffLeast = time.Second
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
