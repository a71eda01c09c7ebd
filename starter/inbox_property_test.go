package starter_test

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

// queue is Telegram's side: updates that stay until an offset past them is heard.
type queue struct {
	updates []queued
}

type queued struct {
	id, chat int64
}

func (q *queue) poll(offset int64, limit int) []queued {
	for len(q.updates) > 0 && q.updates[0].id < offset {
		q.updates = q.updates[1:]
	}
	return q.updates[:min(limit, len(q.updates))]
}

func raws(of []queued) []json.RawMessage {
	var all []json.RawMessage
	for _, u := range of {
		all = append(all, message(u.id, u.chat))
	}
	return all
}

// faults says, for each start, whether it fails, and whether before or after
// the server had it.
type faults struct {
	mu           sync.Mutex
	lost, failed map[string]bool
}

func (f *faults) before(id string) error { return f.answer(f.failed, id) }
func (f *faults) after(id string) error  { return f.answer(f.lost, id) }

func (f *faults) answer(of map[string]bool, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if of[id] {
		return errAway
	}
	return nil
}

func (f *faults) draw(t *rapid.T, of []queued) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lost, f.failed = map[string]bool{}, map[string]bool{}
	for _, u := range of {
		switch rapid.IntRange(0, 9).Draw(t, "fault") {
		case 0:
			f.failed[id(u.id)] = true
		case 1:
			f.lost[id(u.id)] = true
		}
	}
}

func drawQueue(t *rapid.T) (*queue, []queued) {
	q := &queue{}
	next := rapid.Int64Range(1, 1<<31).Draw(t, "first id")
	for range rapid.IntRange(0, 60).Draw(t, "updates") {
		next += rapid.Int64Range(1, 3).Draw(t, "gap")
		q.updates = append(q.updates, queued{id: next, chat: rapid.Int64Range(0, 4).Draw(t, "chat")})
	}
	return q, append([]queued(nil), q.updates...)
}

func TestWhateverFailsEachUpdateIsStartedOnceAndInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := setup(starter.Settings{})
		f := &faults{}
		b.server.before, b.server.after = f.before, f.after
		q, all := drawQueue(t)
		offset := int64(0)
		for range rapid.IntRange(0, 15).Draw(t, "rounds") {
			got := q.poll(offset, rapid.IntRange(1, 30).Draw(t, "limit"))
			f.draw(t, got)
			next, err := b.inbox.Store(t.Context(), raws(got), offset)
			if err == nil && len(got) > 0 {
				require.Equal(t, got[len(got)-1].id+1, next)
			}
			requireStoredBelow(t, b, all, next)
			offset = next
		}
		f.draw(t, nil)
		for got := q.poll(offset, 100); len(got) > 0; got = q.poll(offset, 100) {
			next, err := b.inbox.Store(t.Context(), raws(got), offset)
			require.NoError(t, err)
			offset = next
		}
		requireEachOnceInOrder(t, b, all)
	})
}

func requireStoredBelow(t *rapid.T, b *bundle, all []queued, offset int64) {
	for _, u := range all {
		if u.id < offset {
			require.Contains(t, b.server.byID, id(u.id), "offset %d passed it", offset)
		}
	}
}

// requireEachOnceInOrder also checks that each waits for the one before it in
// its chat, as none of them ends here.
func requireEachOnceInOrder(t *rapid.T, b *bundle, all []queued) {
	require.Len(t, b.server.order, len(all))
	last := map[int64]int64{}
	for _, workflow := range b.server.order {
		u, ok := contract.UpdateOf(workflow)
		require.True(t, ok)
		in := b.server.byID[workflow].in
		if in.ChatID == 0 {
			require.Empty(t, in.After)
			continue
		}
		require.Greater(t, u, last[in.ChatID], "order of chat %d", in.ChatID)
		after := ""
		if before, ok := last[in.ChatID]; ok {
			after = id(before)
		}
		require.Equal(t, after, in.After)
		last[in.ChatID] = u
	}
}
