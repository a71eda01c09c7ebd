package starter

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// separators are those of CSV. Spreadsheets choose by the country.
const separators = ",;\t"

// isTable reports whether the first line is that of CSV: it has several columns, or
// names its only one.
func isTable(first string) bool {
	if first[0] == '{' {
		return false
	}
	return strings.ContainsAny(first, separators) || slices.Contains(chatColumns, columnName(strings.Trim(first, `"`)))
}

func columnName(text string) string { return strings.ToLower(strings.TrimSpace(text)) }

// table is the rows of CSV, the first of which has been read.
func (a *audienceReader) table(first string) error {
	rows := csv.NewReader(io.MultiReader(strings.NewReader(first+"\n"), a.in))
	rows.ReuseRecord = true
	if i := strings.IndexAny(first, separators); i >= 0 {
		rows.Comma = rune(first[i])
	}
	before := a.line - 1
	head, err := readHeader(rows)
	if err != nil {
		return fmt.Errorf("line %d: %w", a.line, err)
	}
	for {
		row, err := rows.Read()
		wrong, isWrong := errors.AsType[*csv.ParseError](err)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case isWrong:
			a.line = before + wrong.StartLine
		case err != nil:
			return err
		default:
			line, _ := rows.FieldPos(0)
			a.line = before + line
		}
		if !empty(row, err) {
			a.took(a.record(head, row, err))
		}
	}
}

// empty reports whether nothing stands in a row, as spreadsheets have it at the end.
func empty(row []string, err error) bool {
	return (err == nil || errors.Is(err, csv.ErrFieldCount)) && strings.TrimSpace(strings.Join(row, "")) == ""
}

// header is the names of the columns, "" for those that are no fields, and which of
// them has the chat.
type header struct {
	columns []string
	chat    int
}

func readHeader(rows *csv.Reader) (header, error) {
	row, err := rows.Read()
	if err != nil {
		return header{}, errors.New("the header line cannot be read as CSV: its quotes do not match")
	}
	h := header{columns: make([]string, len(row)), chat: -1}
	for i, name := range row {
		h.columns[i] = strings.TrimSpace(name)
		if h.columns[i] != "" && slices.Contains(h.columns[:i], h.columns[i]) {
			return h, fmt.Errorf("two columns have the name %.40q", h.columns[i])
		}
	}
	for _, name := range chatColumns {
		h.chat = slices.IndexFunc(h.columns, func(c string) bool { return columnName(c) == name })
		if h.chat >= 0 {
			h.columns[h.chat] = ""
			return h, nil
		}
	}
	return h, errors.New("there are several columns: want a header line in which one is named chat_id, chat or id")
}

// record is one row, with what the reader of CSV finds wrong in it.
func (a *audienceReader) record(h header, row []string, wrong error) error {
	switch {
	case errors.Is(wrong, csv.ErrFieldCount):
		return fmt.Errorf("want %d columns as in the header line, got %d", len(h.columns), len(row))
	case wrong != nil:
		return errors.New("its quotes do not match, and rows behind it may have been read as a part of it")
	case slices.ContainsFunc(row, func(value string) bool { return !utf8.ValidString(value) }):
		return errEncoding
	default:
		return a.add(row[h.chat], h.fields(row))
	}
}

// fields are those of a row. A column without a name is none.
func (h header) fields(row []string) map[string]string {
	fields := make(map[string]string, len(row)-1)
	for i, name := range h.columns {
		if name != "" {
			fields[name] = row[i]
		}
	}
	return fields
}
