package cli

import (
	"github.com/spf13/cobra"

	"github.com/durabot/durabot/internal/contract"
)

func (p Program) deadDiscardCommand(g *global) *cobra.Command {
	var reason string
	t := &deadTargets{}
	cmd := &cobra.Command{Use: "discard ID...", Short: "Give dead letters up: those named, or those that a filter finds"}
	t.flags(cmd.Flags())
	cmd.Flags().StringVar(&reason, "reason", "", "why, for those who come after")
	format := output(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t.ids = args
		if err := checkReason(reason, false); err != nil {
			return usage(err)
		}
		verb := discardVerb(contract.Discard{By: operator(), Reason: reason})
		return p.actOn(cmd.Context(), g, t, verb, func(r *deadRun) error { return r.report(format) })
	}
	return cmd
}

func discardVerb(discard contract.Discard) deadVerb {
	return deadVerb{
		name: "discard", doing: "discarding", update: contract.DiscardUpdate,
		args: func(string) any { return discard },
		skip: func(d deadLetter, _ map[string]bool) string {
			if d.Replaying {
				return skipReplaying
			}
			return ""
		},
	}
}
