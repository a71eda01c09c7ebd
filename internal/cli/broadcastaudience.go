package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/durabot/durabot/starter"
)

// audienceFlags say for whom a broadcast is.
type audienceFlags struct {
	file        string
	skipInvalid bool
}

func (f *audienceFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.file, "audience", "", "file of chats, as text, CSV or JSON lines; - is standard input")
	flags.BoolVar(&f.skipInvalid, "skip-invalid", false, "leave out rows that name no chat")
}

// silent reports whether nobody can be asked: standard input is read to its end.
func (f *audienceFlags) silent() bool { return f.file == "-" }

// name is the file's, to people.
func (f *audienceFlags) name() string {
	if f.silent() {
		return "standard input"
	}
	return f.file
}

// place names a line of it.
func (f *audienceFlags) place(line int) string { return fmt.Sprintf("%s:%d", f.name(), line) }

// audience reads the file and tells of the rows that name no chat. All errors are
// of usage.
func (p Program) audience(f *audienceFlags) (*starter.Audience, error) {
	file, err := p.openAudience(f)
	if err != nil {
		return nil, usage(fmt.Errorf("--audience: %w", err))
	}
	defer file.Close()
	a, err := starter.ReadAudience(file)
	if err != nil {
		return nil, usage(fmt.Errorf("--audience: %s: %w", f.name(), err))
	}
	for _, row := range a.Invalid[:min(len(a.Invalid), mistakesShown)] {
		p.complain(f.place(row.Line), errors.New(row.Why))
	}
	switch {
	case a.InvalidRows > 0 && !f.skipInvalid:
		return nil, usage(fmt.Errorf("%s: %s: nothing is started; mend them, or leave them out with --skip-invalid",
			f.name(), plural(a.InvalidRows, "invalid row")))
	case len(a.Recipients) == 0:
		return nil, usage(fmt.Errorf("%s: it names no chat: want one a line, such as 42 or @name, or a column chat_id", f.name()))
	}
	return a, nil
}

func (p Program) openAudience(f *audienceFlags) (io.ReadCloser, error) {
	switch {
	case f.file == "":
		return nil, errors.New("say for whom: a file of chats, or - for standard input")
	case !f.silent():
		return os.Open(f.file)
	case p.Stdin == nil:
		return nil, errors.New("there is no standard input")
	default:
		return io.NopCloser(p.Stdin), nil
	}
}

// atLine is a recipient's mistake with the line of the recipient.
func (f *audienceFlags) atLine(a *starter.Audience, err error) error {
	if wrong, ok := errors.AsType[*starter.RecipientError](err); ok && wrong.Index < len(a.Lines) {
		return fmt.Errorf("%s: %w", f.place(a.Lines[wrong.Index]), wrong.Err)
	}
	return err
}
