package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// errUnasked is for a verb that has to ask and can ask nobody.
var errUnasked = errors.New("nobody is there to be asked: give --yes")

// console is a stream with a person at it. Tests bring one of their own.
type console interface{ Console() bool }

// terminal reports whether a person is at the stream.
func terminal(stream any) bool {
	switch s := stream.(type) {
	case *os.File:
		return term.IsTerminal(int(s.Fd())) //nolint:gosec // a file descriptor fits an int
	case console:
		return s.Console()
	default:
		return false
	}
}

// attended reports whether a person can be asked, and can read the question.
func (p Program) attended() bool { return terminal(p.Stdin) && terminal(p.Stderr) }

// confirm asks whether to go on and reports the answer. Everything but a yes is a
// no.
func (p Program) confirm(question string) (bool, error) {
	fmt.Fprint(p.Stderr, question, " [y/N] ")
	line, err := bufio.NewReader(p.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}

// progress is a bar on standard error while a person looks on, and nothing where
// nobody does.
func (p Program) progress(what string, of int) *progressbar.ProgressBar {
	return progressbar.NewOptions(of,
		progressbar.OptionSetWriter(p.Stderr), progressbar.OptionSetVisibility(terminal(p.Stderr)),
		progressbar.OptionSetDescription(what), progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish())
}
