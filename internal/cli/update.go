package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/durabot/durabot/internal/contract"
)

func (p Program) updateCommand(g *global) *cobra.Command {
	cmd := &cobra.Command{
		Use: "update", Short: "Look at updates and what became of them", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(p.updateListCommand(g), p.updateShowCommand(g))
	return cmd
}

// updateWorkflow is the workflow ID that a person means: an update_id of the
// bot, or the workflow ID itself.
func (p Program) updateWorkflow(g *global, arg string) (string, error) {
	if strings.Contains(arg, "/") {
		return arg, nil
	}
	update, err := strconv.ParseInt(arg, 10, 64)
	if err != nil {
		return "", usage(fmt.Errorf("want an update_id or a workflow ID such as update/700000001/42, got %q", arg))
	}
	bot, err := p.bot(g)
	return contract.UpdateID(bot, update), err
}

// oneArg wants exactly one argument, which the text names.
func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return usage(fmt.Errorf("%s takes %s, got %d arguments: see %s --help", cmd.CommandPath(), what, len(args), cmd.CommandPath()))
	}
}
