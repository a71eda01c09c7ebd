package cli

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/durabot/durabot/internal/broadcast"
)

func (p Program) broadcastListCommand(g *global) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List broadcasts, the newest first", Args: noArgs}
	format := output(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return p.ask(cmd.Context(), g, func(s *frontend, bot int64) error {
			all, err := broadcast.List(cmd.Context(), s, bot)
			if err != nil {
				return err
			}
			return p.answer(format, append([]broadcast.Status{}, all...), func(w io.Writer) error { return writeBroadcasts(w, all) })
		})
	}
	return cmd
}

func writeBroadcasts(out io.Writer, all []broadcast.Status) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATE\tCHATS\tMETHOD\tACCEPTED\tDUE\tENDED")
	for _, b := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", short(b.Name, keyLength), b.State, thousands(b.Total), orDash(b.Method),
			stampOrDash(b.AcceptedAt), stampOrDash(b.At), stampOrDash(b.EndedAt))
	}
	return w.Flush()
}

func stampOrDash(t time.Time) string {
	if t.IsZero() {
		return orDash("")
	}
	return stamp(t)
}
