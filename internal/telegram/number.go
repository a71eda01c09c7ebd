package telegram

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// maxRetryAfter is the longest wait MTProto can ask for (tdlib, NetQueryDelayer.cpp).
const maxRetryAfter = 14 * 24 * time.Hour

// number returns the text of a JSON number, or of a JSON string that holds one:
// proxies and old servers quote them. Anything else gives "".
func number(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var literal json.Number
	if json.Unmarshal(raw, &literal) != nil {
		return ""
	}
	return literal.String()
}

// integer reads an id. A float that is a whole number below 2^53 counts, since
// some languages write ids that way; everything else is 0.
func integer(raw json.RawMessage) int64 {
	text := number(raw)
	if id, err := strconv.ParseInt(text, 10, 64); err == nil {
		return id
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
		return 0
	}
	return int64(f)
}

// seconds reads a wait: rounded up, never negative, never above 14 days.
func seconds(text string) time.Duration {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(f, 0) { // out of range gives an infinity, which is a long wait
		return 0
	}
	return clampWait(f)
}

func clampWait(f float64) time.Duration {
	if math.IsNaN(f) || f <= 0 {
		return 0
	}
	if f >= maxRetryAfter.Seconds() {
		return maxRetryAfter
	}
	return time.Duration(math.Ceil(f)) * time.Second
}
