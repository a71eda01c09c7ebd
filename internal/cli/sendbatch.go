package cli

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/durabot/durabot/starter"
)

const (
	// lanes is how many messages are accepted at a time, laneRoom how many wait
	// for each of them.
	lanes    = 16
	laneRoom = 4
	// linePatience is how long a line may take: the SDK asks a Temporal that is
	// away again for so long.
	linePatience = time.Minute
	// failuresMost is how many failures in a row end the sending.
	failuresMost = 20
)

var errFailing = errors.New("too many failures in a row")

// batch has the lines of a sheet accepted: side by side, but one after the other
// within a chat, and behind the messages that they name.
type batch struct {
	accept func(context.Context, starter.Message) (starter.Accepted, error)
	bar    *progressbar.ProgressBar
	stop   context.CancelCauseFunc
	lanes  [lanes]chan job
	seed   maphash.Seed
	keys   ordinals

	mu       sync.Mutex
	report   sendReport
	row      int                      // failures one after the other
	underWay map[string]chan struct{} // by key; closed when the message is accepted, or is not
}

// job is one line on its way.
type job struct {
	line    int
	message starter.Message
	after   <-chan struct{} // nil when the message before it is not under way
	done    chan struct{}
}

func newBatch(accept func(context.Context, starter.Message) (starter.Accepted, error), bar *progressbar.ProgressBar) *batch {
	b := &batch{accept: accept, bar: bar, seed: maphash.MakeSeed(), keys: ordinals{}, underWay: map[string]chan struct{}{}}
	b.report.Errors = []lineError{}
	for i := range b.lanes {
		b.lanes[i] = make(chan job, laneRoom)
	}
	return b
}

// run returns when each line has its answer, ctx ends, or too many failed in a
// row, which is an error.
func (b *batch) run(ctx context.Context, s *sheet, defaults order) (sendReport, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	b.stop = stop
	var workers sync.WaitGroup
	for _, lane := range b.lanes {
		workers.Go(func() { b.work(ctx, lane) })
	}
	err := s.each(func(n int, text []byte) bool { return b.take(ctx, n, text, defaults) })
	for _, lane := range b.lanes {
		close(lane)
	}
	workers.Wait()
	if errors.Is(context.Cause(ctx), errFailing) {
		err = errFailing
	}
	return b.report, err
}

// take puts a line into its lane, and reports whether there is to be another.
func (b *batch) take(ctx context.Context, n int, text []byte, defaults order) bool {
	m, err := parseLine(text, defaults)
	if err == nil && m.Key == "" {
		m.Key, err = b.keys.key(text)
	}
	if err != nil { // the file has changed since it was checked
		b.failed(n, err)
		return true
	}
	j := job{line: n, message: m, done: make(chan struct{})}
	b.mu.Lock()
	if before, ok := b.underWay[m.After]; ok && m.After != "" {
		j.after = before
	}
	b.underWay[m.Key] = j.done
	b.mu.Unlock()
	select {
	case b.lane(n, m) <- j:
		return true
	case <-ctx.Done():
		return false
	}
}

// lane is that of the message's chat; a message to none has any.
func (b *batch) lane(n int, m starter.Message) chan<- job {
	if chat := m.Call.Address(); chat != "" {
		return b.lanes[maphash.String(b.seed, chat)%lanes]
	}
	return b.lanes[n%lanes]
}

// work has the messages of a lane accepted until it is closed. Once ctx has ended
// it only empties the lane.
func (b *batch) work(ctx context.Context, lane <-chan job) {
	for j := range lane {
		if j.after != nil {
			// What it waits for came earlier, so that nobody waits in a circle.
			<-j.after
		}
		if ctx.Err() == nil {
			b.send(ctx, j)
		}
		b.mu.Lock()
		if b.underWay[j.message.Key] == j.done {
			delete(b.underWay, j.message.Key)
		}
		b.mu.Unlock()
		close(j.done)
	}
}

func (b *batch) send(ctx context.Context, j job) {
	call, cancel := context.WithTimeout(ctx, linePatience)
	defer cancel()
	taken, err := b.accept(call, j.message)
	if ctx.Err() != nil && err != nil {
		return // nobody knows, and asked for again it will tell
	}
	_ = b.bar.Add(1) // a bar is no reason to stop
	if err != nil {
		b.failed(j.line, unaccepted(lineField, j.message, taken, err))
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.row = 0; taken.Duplicate {
		b.report.Duplicates++
	} else {
		b.report.Accepted++
	}
}

// failed notes a line that was not accepted. One that was refused for what it
// says tells nothing about the others.
func (b *batch) failed(n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.report.fail(n, err)
	if errors.Is(err, starter.ErrOtherContent) || errors.Is(err, starter.ErrNoMessage) {
		b.row = 0
		return
	}
	if b.row++; b.row >= failuresMost {
		b.stop(fmt.Errorf("%w, the last of them: %w", errFailing, err))
	}
}
