package devserver

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// tailBytes is how much of the log's end is searched for its last line.
const tailBytes = 4096

// openLog opens the log for appending and returns where this run's part begins.
func openLog(path string) (*os.File, int64, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("read its size: %w", err)
	}
	return file, info.Size(), nil
}

// lastLine returns the last line that is not blank in the log after offset, so
// never one of an earlier run. A log that cannot be read, or that says nothing,
// gives an answer that points to the file.
func lastLine(path string, offset int64) string {
	nothing := "nothing in " + path
	file, err := os.Open(path)
	if err != nil {
		return nothing
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nothing
	}
	section := io.NewSectionReader(file, max(offset, info.Size()-tailBytes), tailBytes)
	text, err := io.ReadAll(section)
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	last := bytes.TrimSpace(lines[len(lines)-1])
	if err != nil || len(last) == 0 {
		return nothing
	}
	return string(last)
}
