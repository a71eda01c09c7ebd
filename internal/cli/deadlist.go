package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// deadListLimit is how many dead letters are listed unless asked otherwise.
const deadListLimit = 100

func (p Program) deadListCommand(g *global) *cobra.Command {
	f := &deadFilter{}
	var all bool
	cmd := &cobra.Command{Use: "list", Short: "List dead letters, the oldest first", Args: noArgs}
	flags := cmd.Flags()
	f.flags(flags, deadListLimit)
	flags.SetNormalizeFunc(reasonIsDiedOf)
	flags.BoolVar(&all, "all", false, "also those that were replayed or discarded, or expired, while the namespace keeps them")
	format := output(flags)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := f.validate(); err != nil {
			return usage(err)
		}
		return p.ask(cmd.Context(), g, func(s *frontend, bot int64) error {
			found, err := s.dead(cmd.Context(), bot, f, all)
			if err != nil {
				return err
			}
			shown := f.first(found)
			return p.answer(format, deadRows(shown), func(w io.Writer) error { return writeDead(w, shown, found) })
		})
	}
	return cmd
}

// reasonIsDiedOf lets a list be asked for with the word of its column.
func reasonIsDiedOf(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if name == "reason" {
		name = "died-of"
	}
	return pflag.NormalizedName(name)
}

// first are as many as the limit lets through.
func (f *deadFilter) first(found []deadLetter) []deadLetter {
	if f.limit == 0 {
		return found
	}
	return found[:min(f.limit, len(found))]
}

func deadRows(letters []deadLetter) []deadRow {
	rows := make([]deadRow, len(letters))
	for i, d := range letters {
		rows[i] = d.row()
	}
	return rows
}

func writeDead(out io.Writer, shown, found []deadLetter) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTATE\tREASON\tCHAT\tMETHOD\tDIED\tERROR")
	for _, d := range shown {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", d.id(), d.standing(), d.Reason, orDash(d.ChatID), orDash(d.Method),
			stamp(d.At), orDash(short(d.Error, errorLength)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, deadCount(len(shown), found))
	return err
}

// standing is the state in a word.
func (d deadLetter) standing() string {
	if d.Replaying {
		return "replaying"
	}
	return string(d.State)
}

// deadCount is the last line of the list: all that were found, by reason, the
// most frequent first.
func deadCount(shown int, found []deadLetter) string {
	by := map[string]int{}
	for _, d := range found {
		by[string(d.Reason)]++
	}
	text := plural(len(found), "dead letter")
	if len(by) > 0 {
		text += ": " + counts(by)
	}
	if more := len(found) - shown; more > 0 {
		text += fmt.Sprintf("; %d more than shown, see --limit", more)
	}
	return text
}

// counts is what was counted, the most frequent first.
func counts(by map[string]int) string {
	names := make([]string, 0, len(by))
	for name := range by {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if by[a] != by[b] {
			return by[b] - by[a]
		}
		return strings.Compare(a, b)
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%d %s", by[name], name)
	}
	return strings.Join(names, ", ")
}
