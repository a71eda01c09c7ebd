package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// choice is a flag that takes one of a few words.
type choice struct {
	value string
	words []string
}

// String is the word in force.
func (c *choice) String() string { return c.value }

// Type is what the help shows in place of a value.
func (c *choice) Type() string { return strings.Join(c.words, "|") }

// Set takes one of the words.
func (c *choice) Set(word string) error {
	if !slices.Contains(c.words, word) {
		return fmt.Errorf("want one of %s", strings.Join(c.words, ", "))
	}
	c.value = word
	return nil
}

// output is the -o of every verb that answers.
func output(f *pflag.FlagSet) *choice {
	c := &choice{value: "table", words: []string{"table", "json"}}
	f.VarP(c, "output", "o", "what the answer is written as")
	return c
}

// answer writes what a verb has found, as the format wants it.
func (p Program) answer(format *choice, v any, text func(w io.Writer) error) error {
	if format.value == "json" {
		return writeJSON(p.Stdout, v)
	}
	return text(p.Stdout)
}

// writeJSON writes for scripts and people alike.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// brief is a duration for people: three digits at most, no false precision.
func brief(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "under 1ms"
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	default:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
}

// short cuts a text that would break a line of a table.
func short(text string, most int) string {
	text = oneLine(text)
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// orDash shows that there is nothing to show.
func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// stamp is a time of day with its date, where the person is.
func stamp(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }
