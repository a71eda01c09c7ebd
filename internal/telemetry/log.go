package telemetry

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"
)

// NewLogger writes structured lines to w: format "text" or "json", "" for text
// on a terminal and JSON elsewhere. Level is debug, info, warn or error. Redact
// is a second lock on secrets: it sees every line as it is written.
func NewLogger(w io.Writer, level, format string, redact func(string) string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("--log-level: want debug, info, warn or error, got %q", level)
	}
	opts, locked := &slog.HandlerOptions{Level: l}, redacting{w, redact}
	switch {
	case format == "json", format == "" && !terminal(w):
		return slog.New(slog.NewJSONHandler(locked, opts)), nil
	case format == "text", format == "":
		return slog.New(slog.NewTextHandler(locked, opts)), nil
	}
	return nil, fmt.Errorf("--log-format: want text or json, got %q", format)
}

// redacting is the writer below a handler, which writes a line at a time. By
// then whatever was logged is text, whatever its type was.
type redacting struct {
	io.Writer
	redact func(string) string
}

// Write claims the length it was given: the line that is written may be another.
func (r redacting) Write(line []byte) (int, error) {
	if _, err := r.Writer.Write([]byte(r.redact(string(line)))); err != nil {
		return 0, err
	}
	return len(line), nil
}

func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) //nolint:gosec // a file descriptor fits an int
}
