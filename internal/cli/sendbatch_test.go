package cli_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/cli"
	"github.com/durabot/durabot/starter"
)

// desk accepts messages, each after a while, and keeps their order.
type desk struct {
	mu     sync.Mutex
	keys   map[string]bool
	order  []string
	byChat map[string][]string
	busy   int
	most   int
	// refuse, when set, decides about each message.
	refuse func(starter.Message) error
}

func newDesk() *desk { return &desk{keys: map[string]bool{}, byChat: map[string][]string{}} }

func (d *desk) accept(ctx context.Context, m starter.Message) (starter.Accepted, error) {
	d.mu.Lock()
	d.busy++
	d.most = max(d.most, d.busy)
	d.mu.Unlock()
	select {
	case <-time.After(time.Duration(rand.IntN(10)) * time.Millisecond):
	case <-ctx.Done():
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy--
	if err := ctx.Err(); err != nil {
		return starter.Accepted{Key: m.Key}, err
	}
	if d.refuse != nil {
		if err := d.refuse(m); err != nil {
			return starter.Accepted{Key: m.Key}, err
		}
	}
	if m.After != "" && !d.keys[m.After] {
		return starter.Accepted{}, starter.ErrNoMessage
	}
	known := d.keys[m.Key]
	d.keys[m.Key] = true
	if !known {
		d.order = append(d.order, m.Key)
		d.byChat[m.Call.Address()] = append(d.byChat[m.Call.Address()], m.Key)
	}
	return starter.Accepted{Key: m.Key, Duplicate: known}, nil
}

// keyed are lines with keys that count up, to chats that the function names.
func keyed(n int, chat func(i int) int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"chat":%d,"text":"hello","key":"%04d"}`, chat(i), i)
	}
	return lines
}

func TestTheLinesOfAChatAreAcceptedInTheOrderOfTheFile(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		chats := rapid.SliceOfN(rapid.IntRange(1, 6), 1, 60).Draw(r, "chats")
		name := filepath.Join(t.TempDir(), "messages.jsonl")
		require.NoError(t, os.WriteFile(name, []byte(strings.Join(keyed(len(chats), func(i int) int { return chats[i] }), "\n")), 0o600))
		d := newDesk()
		report, err := cli.SendSheet(t.Context(), name, d.accept)
		require.NoError(t, err)
		require.Equal(t, len(chats), report.Accepted)
		for _, keys := range d.byChat {
			require.IsIncreasing(t, append([]string{""}, keys...))
		}
	})
}

func TestSixteenLinesAreAcceptedAtATime(t *testing.T) {
	t.Parallel()
	name := file(t, keyed(2000, func(i int) int { return i + 1 })...)
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		report, err := cli.SendSheet(t.Context(), name, d.accept)
		require.NoError(t, err)
		require.Equal(t, 2000, report.Accepted)
		require.Equal(t, 16, d.most)
	})
}

func TestTheSameFileAgainSendsNothingTwice(t *testing.T) {
	t.Parallel()
	name := file(t, `{"chat":1,"text":"a"}`, `{"chat":1,"text":"b"}`, `{ "text":"a", "chat":1 }`, `{"chat":1,"text":"c","key":"k"}`, `{"chat":1,"text":"c","key":"k"}`)
	d := newDesk()
	report, err := cli.SendSheet(t.Context(), name, d.accept)
	require.NoError(t, err)
	require.Equal(t, 4, report.Accepted, "a line that is there twice is two messages")
	require.Equal(t, 1, report.Duplicates, "a key is one")
	for _, key := range d.order {
		require.Regexp(t, `^(k|line-[0-9a-f]{32}(-2)?)$`, key)
	}
	report, err = cli.SendSheet(t.Context(), name, d.accept)
	require.NoError(t, err)
	require.Zero(t, report.Accepted)
	require.Equal(t, 5, report.Duplicates)
	require.Len(t, d.order, 4)
}

func TestALineBehindAnotherIsAcceptedAfterIt(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 200 {
		line := fmt.Sprintf(`{"chat":%d,"text":"hello","key":"%04d"`, i+1, i)
		if i > 0 {
			line += fmt.Sprintf(`,"after":"%04d"`, i-1)
		}
		lines = append(lines, line+"}")
	}
	name := file(t, lines...)
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		report, err := cli.SendSheet(t.Context(), name, d.accept)
		require.NoError(t, err)
		require.Zero(t, report.Failed)
		require.IsIncreasing(t, d.order)
	})
}

func TestALineThatFailsIsToldAndTheOthersGoOn(t *testing.T) {
	t.Parallel()
	name := file(t, keyed(100, func(int) int { return 1 })...)
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		d.refuse = func(m starter.Message) error {
			switch {
			case m.Key < "0050": // more than may fail in a row
				return fmt.Errorf("message/7/%s: %w", m.Key, starter.ErrOtherContent)
			case m.Key[3]%2 == 0: // as many, and never in a row
				return errors.New("boom")
			}
			return nil
		}
		report, err := cli.SendSheet(t.Context(), name, d.accept)
		require.NoError(t, err)
		require.Equal(t, 75, report.Failed)
		require.Equal(t, 25, report.Accepted)
		require.Equal(t, 1, report.Errors[0].Line)
		require.Equal(t, "key 0000: "+starter.ErrOtherContent.Error()+": nothing was sent; choose another key", report.Errors[0].Error)
		require.Equal(t, 51, report.Errors[50].Line)
		require.Equal(t, "boom: it may be accepted or not; send it again with key 0050", report.Errors[50].Error)
	})
}

func TestTwentyFailuresInARowEndTheSending(t *testing.T) {
	t.Parallel()
	name := file(t, keyed(1000, func(i int) int { return i + 1 })...)
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		d.refuse = func(starter.Message) error { return errors.New("boom") }
		report, err := cli.SendSheet(t.Context(), name, d.accept)
		require.ErrorContains(t, err, "too many failures in a row")
		require.GreaterOrEqual(t, report.Failed, 20)
		require.Less(t, report.Failed, 40)
	})
}

func TestAnInterruptLeavesLinesThatAreNeitherAcceptedNorFailed(t *testing.T) {
	t.Parallel()
	name := file(t, keyed(1000, func(i int) int { return i%5 + 1 })...)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		d := newDesk()
		report, err := cli.SendSheet(ctx, name, d.accept)
		require.NoError(t, err)
		require.Zero(t, report.Failed)
		require.Len(t, d.order, report.Accepted)
		require.Less(t, report.Accepted, 1000)
		report, err = cli.SendSheet(t.Context(), name, d.accept)
		require.NoError(t, err)
		require.Equal(t, 1000, report.Accepted+report.Duplicates)
		require.Len(t, d.order, 1000)
	})
}
