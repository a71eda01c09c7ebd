package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/durabot/durabot/starter"
)

// errorsKept is how many lines that failed are remembered with their errors.
const errorsKept = 1000

// sendReport is the answer of `send --from`.
type sendReport struct {
	// Accepted counts the new messages, Duplicates those accepted before.
	Accepted   int `json:"accepted"`
	Duplicates int `json:"duplicates"`
	Failed     int `json:"failed"`
	// Left counts the lines that were not tried, as the sending was stopped.
	Left int `json:"left"`
	// Errors are of the lines that failed, the first thousand of them.
	Errors []lineError `json:"errors"`
}

// lineError says why a line was not accepted.
type lineError struct {
	Line  int    `json:"line"`
	Error string `json:"error"`
}

func (r *sendReport) fail(line int, err error) {
	if r.Failed++; len(r.Errors) < errorsKept {
		r.Errors = append(r.Errors, lineError{line, oneLine(err.Error())})
	}
}

func (r *sendReport) write(w io.Writer) error {
	text := fmt.Sprintf("accepted %s, duplicates %s, failed %s", thousands(r.Accepted), thousands(r.Duplicates), thousands(r.Failed))
	if r.Left > 0 {
		text += ", not tried " + thousands(r.Left)
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

// sendFrom has all messages of a file accepted, or none when the file has a
// mistake.
func (p Program) sendFrom(ctx context.Context, g *global, f *sendFlags, format *choice) error {
	if err := f.checkFrom(); err != nil {
		return usage(err)
	}
	s, err := p.openSheet(f.from)
	if err != nil {
		return err
	}
	defer s.close()
	found, err := p.check(s, f.defaults())
	if err != nil {
		return err
	}
	if found.missing > 0 {
		p.warn("%s of %s names a file that cannot be read here: it has to be there where the bot sends", plural(found.missing, "line"), s.name)
	}
	return p.ask(ctx, g, func(t *frontend, bot int64) error {
		return p.sendLines(ctx, t, bot, s, found.lines, f.defaults(), format)
	})
}

// sendLines sends a sheet that is checked.
func (p Program) sendLines(ctx context.Context, t *frontend, bot int64, s *sheet, lines int, defaults order, format *choice) error {
	bar := p.progress("sending", lines)
	b := newBatch(starter.NewMessages(t, bot, t.registered(ctx)).Send, bar)
	report, err := b.run(ctx, s, defaults)
	_ = bar.Exit() // a bar is no reason to stop
	report.Left = max(lines-report.Accepted-report.Duplicates-report.Failed, 0)
	for _, e := range report.Errors[:min(len(report.Errors), mistakesShown)] {
		p.complain(s.place(e.Line), errors.New(e.Error))
	}
	return errors.Join(ended(ctx, s, report, err), p.answer(format, report, report.write))
}

// ended is the error of a sending that left something undone.
func ended(ctx context.Context, s *sheet, r sendReport, err error) error {
	const again = "the same command goes on, and sends nothing twice"
	switch {
	case errors.Is(err, errFailing):
		return fmt.Errorf("%s: stopped: %w: %s", s.name, err, again)
	case err != nil:
		return err
	case ctx.Err() != nil && r.Left > 0:
		return fmt.Errorf("%s: interrupted: %s", s.name, again)
	case r.Failed > 0:
		return fmt.Errorf("%s: %s not accepted: mend them; %s", s.name, plural(r.Failed, "line"), again)
	}
	return nil
}

// warn tells of what is no error yet.
func (p Program) warn(format string, args ...any) {
	fmt.Fprintln(p.Stderr, "durabot:", oneLine(fmt.Sprintf(format, args...)))
}

// thousands is a number for people: 9,990.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
