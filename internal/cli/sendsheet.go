package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"

	"github.com/durabot/durabot/internal/contract"
)

const (
	// lineMost is the longest line: a message has at most 1.5 MiB of parameters.
	lineMost = 2 << 20
	// mistakesShown is how many mistakes of a file are told.
	mistakesShown = 10
)

// sheet is a file of messages, one a line. It is read twice: to be checked, and
// to be sent.
type sheet struct {
	name string
	file *os.File
	// spooled is set for a copy of what can be read only once.
	spooled bool
}

// openSheet opens the file; "-" is standard input.
func (p Program) openSheet(name string) (*sheet, error) {
	if name == "-" {
		if p.Stdin == nil {
			return nil, errors.New("--from -: there is no standard input")
		}
		return spool("standard input", p.Stdin)
	}
	file, err := os.Open(name) //nolint:gosec // the caller names the file
	if err != nil {
		return nil, usage(fmt.Errorf("--from: %w", err))
	}
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		return &sheet{name: name, file: file}, nil
	}
	defer file.Close()
	return spool(name, file)
}

// spool copies what cannot be read twice.
func spool(name string, from io.Reader) (*sheet, error) {
	file, err := os.CreateTemp("", "durabot-send-*.jsonl")
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	s := &sheet{name: name, file: file, spooled: true}
	_ = os.Remove(file.Name()) // what is said outlives no kill; where an open file cannot be removed, close does it
	if _, err := io.Copy(file, from); err != nil {
		s.close()
		return nil, fmt.Errorf("--from: read %s: %w", name, err)
	}
	return s, nil
}

func (s *sheet) close() {
	_ = s.file.Close() // it was read, or is a copy
	if s.spooled {
		_ = os.Remove(s.file.Name()) // most often it is gone already
	}
}

// place names a line to people.
func (s *sheet) place(n int) string { return fmt.Sprintf("%s:%d", s.name, n) }

// each shows the lines that are not blank, with their numbers from 1, until show
// says that it is enough. The bytes are the caller's until it is called again.
func (s *sheet) each(show func(n int, text []byte) bool) error {
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	lines := bufio.NewScanner(s.file)
	lines.Buffer(nil, lineMost)
	n := 0
	for lines.Scan() {
		n++
		text := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\ufeff")))
		if len(text) > 0 && !show(n, text) {
			return nil
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("%s: want at most %d bytes in a line", s.place(n+1), lineMost)
	}
	if lines.Err() != nil {
		return fmt.Errorf("--from: %w", lines.Err())
	}
	return nil
}

// proof is what checking a sheet has found.
type proof struct {
	lines, mistakes int
	missing         int // lines with files that cannot be read here
}

// check reads the whole sheet and tells its first mistakes.
func (p Program) check(s *sheet, defaults order) (proof, error) {
	var found proof
	keys := meanings{maphash.MakeSeed(), map[uint64]uint64{}}
	err := s.each(func(n int, text []byte) bool {
		found.lines++
		m, err := parseLine(text, defaults)
		if err == nil && m.Key != "" {
			err = keys.check(m.Key, m.Call)
		}
		if err == nil && len(missingFiles(m.Call.Params)) > 0 {
			found.missing++
		}
		if err != nil {
			if found.mistakes++; found.mistakes <= mistakesShown {
				p.complain(s.place(n), err)
			}
		}
		return true
	})
	switch {
	case err != nil:
		return found, usage(err)
	case found.mistakes > 0:
		return found, usage(fmt.Errorf("%s: %s: nothing is sent", s.name, plural(found.mistakes, "mistake")))
	case found.lines == 0:
		return found, usage(fmt.Errorf(`%s: it is empty: want lines such as {"chat":42,"text":"hi"}`, s.name))
	}
	return found, nil
}

// meanings are what the keys of a sheet stand for, both as hashes: a sheet may
// have a million.
type meanings struct {
	seed maphash.Seed
	seen map[uint64]uint64
}

// check refuses a key that an earlier line has for another message.
func (m meanings) check(key string, call contract.Call) error {
	content, err := call.Hash()
	if err != nil {
		return err
	}
	k, c := maphash.String(m.seed, key), maphash.String(m.seed, content)
	if first, known := m.seen[k]; known && first != c {
		return fmt.Errorf("key: an earlier line has %q for another message: choose another key", key)
	}
	m.seen[k] = c
	return nil
}

// complain tells of one line on standard error.
func (p Program) complain(where string, err error) {
	fmt.Fprintf(p.Stderr, "%s: %s\n", where, oneLine(p.redact(err.Error())))
}
