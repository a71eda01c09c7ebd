package cli

import (
	"github.com/spf13/cobra"

	"github.com/durabot/durabot/starter"
)

func (p Program) broadcastCommand(g *global) *cobra.Command {
	cmd := &cobra.Command{
		Use: "broadcast", Short: "Send one call to many chats, follow it, stop it, tell who got it", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		p.broadcastStartCommand(g), p.broadcastListCommand(g), p.broadcastStatusCommand(g), p.broadcastPauseCommand(g),
		p.broadcastResumeCommand(g), p.broadcastCancelCommand(g), p.broadcastReportCommand(g), p.broadcastRetryCommand(g),
	)
	return cmd
}

// oneBroadcast takes the name of a broadcast.
func oneBroadcast(cmd *cobra.Command, args []string) error {
	if err := oneArg("the name of a broadcast")(cmd, args); err != nil {
		return err
	}
	return usage(starter.CheckBroadcastName(args[0]))
}
