package devserver

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

const (
	// lineEvery is the pace of progress in a log: enough to see life, too
	// little to bury other lines.
	lineEvery = 30 * time.Second
	// frameEvery is the pace of the spinner on a terminal.
	frameEvery = 200 * time.Millisecond
)

// frames are the spinner's pictures; plain ASCII shows on every terminal.
const frames = `|/-\`

// progress tells a person that long work is alive. Start it with
// [startProgress] and end it with stop.
type progress struct {
	out      io.Writer
	title    string
	state    func() string
	terminal bool
	began    time.Time
	quit     chan struct{}
	ended    chan struct{}
}

// startProgress announces title at once and then keeps reporting the seconds
// gone by and state's answer until stop is called.
func startProgress(out io.Writer, title string, state func() string) *progress {
	p := &progress{
		out:      out,
		title:    title,
		state:    state,
		terminal: isTerminal(out),
		began:    time.Now(),
		quit:     make(chan struct{}),
		ended:    make(chan struct{}),
	}
	go p.run()
	return p
}

// stop ends the reports and returns when nothing more will be written. done
// decides whether a closing line claims success; an error is its caller's to tell.
func (p *progress) stop(done bool) {
	close(p.quit)
	<-p.ended
	if p.terminal {
		p.printf("\r\x1b[K")
	}
	if done {
		p.printf("%s: done in %d s\n", p.title, p.seconds())
	}
}

func (p *progress) run() {
	defer close(p.ended)
	every := lineEvery
	if p.terminal {
		every = frameEvery
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for frame := 0; ; frame++ {
		p.draw(frame)
		select {
		case <-ticker.C:
		case <-p.quit:
			return
		}
	}
}

func (p *progress) draw(frame int) {
	if p.terminal {
		p.printf("\r\x1b[K%c %s: %d s, %s", frames[frame%len(frames)], p.title, p.seconds(), p.state())
		return
	}
	p.printf("%s: %d s, %s\n", p.title, p.seconds(), p.state())
}

func (p *progress) seconds() int { return int(time.Since(p.began).Seconds()) }

// printf drops the error of a closed terminal: progress must not fail the work.
func (p *progress) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(p.out, format, args...)
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
