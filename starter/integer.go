package starter

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// integer is an id or a time that some servers write as a string or as a float.
// Anything that is not a whole number within ±2^53 as a float, or within an
// int64 otherwise, is refused.
type integer int64

// UnmarshalJSON reads null as 0.
func (i *integer) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*i = 0
		return nil
	}
	text := strings.Trim(string(data), `"`)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		*i = integer(n)
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return fmt.Errorf("no whole number, in %d bytes", len(data))
	}
	*i = integer(f)
	return nil
}
