package starter

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/durabot/durabot/internal/contract"
)

const (
	// invalidKept is how many invalid rows are told.
	invalidKept = 1000
	// audienceLine is the longest line in bytes, outside of quotes in CSV.
	audienceLine = 1 << 20
)

// Audience is who a broadcast is for, each chat once.
type Audience struct {
	Recipients []contract.Recipient
	// Lines are where the recipients stand, from 1.
	Lines []int
	// Rows counts all rows, Duplicates those whose chat is there already, and Moved
	// the chats that Follow replaced.
	Rows       int
	Duplicates int
	Moved      int
	// Invalid are the first thousand rows that cannot be used, InvalidRows is how
	// many there are.
	Invalid     []InvalidRow
	InvalidRows int
}

// InvalidRow is a row that cannot be used.
type InvalidRow struct {
	Line int `json:"line"`
	// Why quotes nothing but its chat, and of that 40 characters.
	Why string `json:"why"`
}

// ReadAudience reads an audience in one of three forms, told by its first line:
// text with an id or an @name a line, in which # begins a comment; CSV with a
// header line that names a column chat_id, chat or id, separated by commas,
// semicolons or tabs; JSONL with such a key in every object. The other columns, or
// keys with a text, a number, true or false, are fields; null is none.
//
// Rows that cannot be used are collected. Of rows with the same chat the first
// stays. The error is of reading, or of a file that is in none of the forms.
func ReadAudience(r io.Reader) (*Audience, error) {
	a := &audienceReader{in: bufio.NewReaderSize(r, audienceLine), seen: map[string]bool{}}
	if err := a.mark(); err != nil {
		return nil, err
	}
	if err := a.rows(); err != nil {
		return nil, err
	}
	return &a.audience, nil
}

// audienceReader is an audience that is being read.
type audienceReader struct {
	in       *bufio.Reader
	line     int // the last one that was read
	audience Audience
	seen     map[string]bool // chats, names in lower case
}

// mark skips the byte order mark of UTF-8, and refuses that of another encoding.
func (a *audienceReader) mark() error {
	first, _ := a.in.Peek(3) // an error comes again with the first line
	switch {
	case bytes.Equal(first, []byte("\ufeff")):
		_, err := a.in.Discard(3)
		return err
	case bytes.HasPrefix(first, []byte("\xff\xfe")), bytes.HasPrefix(first, []byte("\xfe\xff")):
		return errors.New("the audience is in UTF-16: save it as UTF-8")
	}
	return nil
}

// next is the next line without the white space around it, blank lines and
// comments left out.
func (a *audienceReader) next() (string, error) {
	for {
		line, err := a.in.ReadSlice('\n')
		if len(line) > 0 {
			a.line++
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			return "", fmt.Errorf("line %d: want at most %d bytes in a line", a.line, audienceLine)
		}
		if text := bytes.TrimSpace(line); len(text) > 0 && text[0] != '#' {
			return string(text), nil
		}
		if err != nil {
			return "", err
		}
	}
}

// rows reads all rows. The first says of which form they are.
func (a *audienceReader) rows() error {
	row, err := a.next()
	if err == nil && row[0] == '[' {
		return fmt.Errorf("line %d: the audience is a JSON array: want an object a line, as `jq -c '.[]'` makes them", a.line)
	}
	if err == nil && isTable(row) {
		return a.table(row)
	}
	for ; err == nil; row, err = a.next() {
		a.took(a.row(row))
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// add is the row of a chat.
func (a *audienceReader) add(chat string, fields map[string]string) error {
	chat, err := parseChat(chat)
	if err != nil {
		return err
	}
	key := strings.ToLower(chat)
	if a.seen[key] {
		a.audience.Duplicates++
		return nil
	}
	a.seen[key] = true
	if len(fields) == 0 {
		fields = nil
	}
	a.audience.Recipients = append(a.audience.Recipients, contract.Recipient{Chat: chat, Fields: fields})
	a.audience.Lines = append(a.audience.Lines, a.line)
	return nil
}

// took counts a row; invalid is why it cannot be used.
func (a *audienceReader) took(invalid error) {
	a.audience.Rows++
	if invalid == nil {
		return
	}
	if a.audience.InvalidRows++; a.audience.InvalidRows <= invalidKept {
		a.audience.Invalid = append(a.audience.Invalid, InvalidRow{Line: a.line, Why: invalid.Error()})
	}
}

// Follow replaces the chats that have moved by where they are now, which moved
// says; it returns 0, or the chat itself, for one that has not. A chat whose new
// place is in the audience itself is left out, as a duplicate.
func (a *Audience) Follow(moved func(chat int64) int64) {
	taken := make(map[string]bool, len(a.Recipients))
	for _, r := range a.Recipients {
		if movedTo(r.Chat, moved) == r.Chat {
			taken[r.Chat] = true
		}
	}
	kept := 0
	for i, r := range a.Recipients {
		if to := movedTo(r.Chat, moved); to != r.Chat {
			a.Moved++
			if r.Chat = to; taken[to] {
				a.Duplicates++
				continue
			}
			taken[to] = true
		}
		a.Recipients[kept], a.Lines[kept] = r, a.Lines[i]
		kept++
	}
	clear(a.Recipients[kept:])
	a.Recipients, a.Lines = a.Recipients[:kept], a.Lines[:kept]
}

func movedTo(chat string, moved func(int64) int64) string {
	id, err := strconv.ParseInt(chat, 10, 64)
	if err != nil {
		return chat
	}
	if to := moved(id); to != 0 {
		return strconv.FormatInt(to, 10)
	}
	return chat
}
