package cli

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/durabot/durabot/internal/broadcast"
)

// rowWriter writes rows one by one: a report may have a million.
type rowWriter interface {
	write(r broadcast.Row) error
	// close ends what was written, and leaves the stream open.
	close() error
}

func newRowWriter(w io.Writer, format string) rowWriter {
	if format == "json" {
		return &jsonRows{to: bufio.NewWriter(w)}
	}
	return &csvRows{to: csv.NewWriter(w)}
}

// csvRows are a header and a line for each row.
type csvRows struct {
	to    *csv.Writer
	begun bool
}

func (c *csvRows) write(r broadcast.Row) error {
	if err := c.begin(); err != nil {
		return err
	}
	at := ""
	if !r.At.IsZero() {
		at = r.At.UTC().Format(time.RFC3339)
	}
	return c.to.Write([]string{r.Chat, r.Outcome, r.MessageID, harmless(r.Error), at})
}

func (c *csvRows) begin() error {
	if c.begun {
		return nil
	}
	c.begun = true
	return c.to.Write([]string{"chat_id", "outcome", "message_id", "error", "at"})
}

func (c *csvRows) close() error {
	if err := c.begin(); err != nil {
		return err
	}
	c.to.Flush()
	return c.to.Error()
}

// harmless keeps a spreadsheet from taking a text for a formula.
func harmless(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

// jsonRows are an array, a row a line.
type jsonRows struct {
	to    *bufio.Writer
	begun bool
}

func (j *jsonRows) write(r broadcast.Row) error {
	var row bytes.Buffer
	enc := json.NewEncoder(&row)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return err
	}
	between := ",\n  "
	if !j.begun {
		j.begun, between = true, "[\n  "
	}
	_, _ = j.to.WriteString(between) // an error of the writer stays, and Flush tells it
	_, err := j.to.Write(bytes.TrimSpace(row.Bytes()))
	return err
}

func (j *jsonRows) close() error {
	end := "\n]\n"
	if !j.begun {
		end = "[]\n"
	}
	_, _ = j.to.WriteString(end) // as above
	return j.to.Flush()
}
