package devserver

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
)

// complaintLines is how many lines of a failed build an error quotes.
const complaintLines = 5

// buildOutput reads along with `go install -v`, which prints a package path per
// compiled package, a "go: downloading" line per module, and anything else only
// when something is wrong. It is safe for concurrent use.
type buildOutput struct {
	mu         sync.Mutex
	partial    []byte
	compiled   int
	downloaded int
	problems   []string
}

// Write takes the next bytes of the output; lines may be split anywhere.
func (o *buildOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.partial = append(o.partial, p...)
	for {
		line, rest, found := bytes.Cut(o.partial, []byte("\n"))
		if !found {
			return len(p), nil
		}
		o.partial = rest
		o.take(strings.TrimSpace(string(line)))
	}
}

// take files one line. The caller holds the lock.
func (o *buildOutput) take(line string) {
	switch {
	case line == "":
	case strings.HasPrefix(line, "go: downloading "):
		o.downloaded++
	case !strings.Contains(line, " "):
		o.compiled++
	default:
		o.problems = append(o.problems, line)
		o.problems = o.problems[max(0, len(o.problems)-complaintLines):]
	}
}

// state says what the build is doing, for a progress line.
func (o *buildOutput) state() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.compiled > 0:
		return fmt.Sprintf("%d packages compiled", o.compiled)
	case o.downloaded > 0:
		return fmt.Sprintf("%d modules downloaded", o.downloaded)
	default:
		return "starting"
	}
}

// complaints returns the last lines that told of a problem, oldest first, and a
// line without its newline as well: a killed compiler may end in one.
func (o *buildOutput) complaints() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.take(strings.TrimSpace(string(o.partial)))
	o.partial = nil
	return o.problems
}
