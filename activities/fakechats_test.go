package activities_test

import (
	"context"
	"sync"
	"time"
)

// fakeChats remembers what it was told and knows what the test set.
type fakeChats struct {
	mu        sync.Mutex
	moved     map[int64]int64
	closed    map[int64]string
	marks     []mark
	moves     [][2]int64
	penalties []penalty
	// hinted is called before each answer to Closed, nil for nothing.
	hinted func(n int)
	asked  int
}

type mark struct {
	chat int64
	why  string
	left time.Time
}

func (f *fakeChats) MovedTo(chat int64) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.moved[chat]
}

func (f *fakeChats) Closed(_ context.Context, chat int64) (string, bool) {
	f.mu.Lock()
	f.asked++
	n := f.asked
	f.mu.Unlock()
	if f.hinted != nil {
		f.hinted(n)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	why, closed := f.closed[chat]
	return why, closed
}

func (f *fakeChats) Close(ctx context.Context, chat int64, why string, left time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	f.marks = append(f.marks, mark{chat, why, left})
	if f.closed == nil {
		f.closed = map[int64]string{}
	}
	f.closed[chat] = why
}

func (f *fakeChats) Move(_ context.Context, from, to int64) {
	f.moves = append(f.moves, [2]int64{from, to})
	f.knowMove(from, to)
}

// knowMove makes a move known without anybody having told it.
func (f *fakeChats) knowMove(from, to int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.moved == nil {
		f.moved = map[int64]int64{}
	}
	f.moved[from] = to
}

func (f *fakeChats) Penalize(_ context.Context, chat int64, method string, until time.Time) {
	f.penalties = append(f.penalties, penalty{chat, method, until})
}
