package cli

import (
	"fmt"
	"sort"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/config"
	"github.com/durabot/durabot/internal/telemetry"
)

func (p Program) runCommand(g *global) *cobra.Command {
	s := config.Defaults()
	var handler, secretFile string
	cmd := &cobra.Command{
		Use: "run", Short: "Run the bot", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := p.handler(handler)
			if err != nil {
				return err
			}
			if err := readSecrets(&s, secretFile); err != nil {
				return err
			}
			if err := p.fill(&s, g); err != nil {
				return err
			}
			return Serve(cmd.Context(), h, s)
		},
	}
	botFlags(cmd.Flags(), &s)
	cmd.Flags().StringVar(&s.HTTP, "http", s.HTTP, "address of /healthz, /readyz, /metrics, /api/v1/stats and /telegram/webhook; empty for none")
	cmd.Flags().StringVar(&s.Advertise, "advertise", s.Advertise, "HOST:PORT at which the bot's other processes reach that address, to pass posts on (default: the address itself)")
	cmd.Flags().StringVar(&secretFile, "webhook-secret-file", "", "file that holds the secret, or several, in place of --webhook-secret")
	cmd.Flags().BoolVar(&s.TakeOver, "take-over", s.TakeOver, "replace a webhook that is not this bot's own, or remove any in order to poll; what waits is kept")
	cmd.Flags().StringVar(&s.HeartbeatURL, "heartbeat-url", s.HeartbeatURL, "address that the process on duty asks for once a minute while it is ready")
	cmd.Flags().DurationVar(&s.LateAfter, "late-after", s.LateAfter, "how long the oldest call may wait before health is degraded; 0 switches that off")
	cmd.Flags().BoolVar(&s.NoDuty, "no-duty", s.NoDuty, "never be the process that talks to Telegram for the bot")
	cmd.Flags().StringVar(&handler, "handler", "", "a stock handler in place of the program's own ("+p.stockNames()+")")
	return cmd
}

// botFlags are the settings that run and dev share.
func botFlags(f *pflag.FlagSet, s *config.Settings) {
	intakeFlags(f, s)
	limitFlags(f, s)
	f.Var(&s.Webhook.Secrets, "webhook-secret", "secret that Telegram repeats in each post; several, by commas, are all taken and the first is the one that is set.\n"+
		"Others on this machine can read a command line: better set DURABOT_WEBHOOK_SECRET")
	f.DurationVar(&s.MaxUpdateAge, "max-update-age", s.MaxUpdateAge, "end older updates as expired; 0 handles all")
	f.BoolVar(&s.NewIDs, "new-ids", s.NewIDs, "the Bot API server was wiped: an update_id may come again for another update")
	f.BoolVar(&s.AnswerCallbacks, "auto-answer-callbacks", s.AnswerCallbacks, "answer button presses at once")
	f.DurationVar(&s.HandlerTimeout, "handler-timeout", s.HandlerTimeout, "time for one attempt of the handler")
}

// intakeFlags are shared with doctor, which compares them with the webhook that is
// set.
func intakeFlags(f *pflag.FlagSet, s *config.Settings) {
	f.StringVar(&s.Intake, "intake", s.Intake, "how updates come in: poll, webhook, or none for a process that takes none")
	f.StringVar(&s.Webhook.URL, "webhook-url", s.Webhook.URL, "https address that Telegram is to post to; it has to lead to /telegram/webhook on --http")
	f.IntVar(&s.Webhook.Connections, "webhook-connections", s.Webhook.Connections, "posts that Telegram has open at a time, 1 to 100")
	f.StringSliceVar(&s.AllowedUpdates, "allowed-updates", s.AllowedUpdates, "kinds of updates to ask Telegram for")
}

// limitFlags are the budget's, which doctor compares with what Telegram publishes.
func limitFlags(f *pflag.FlagSet, s *config.Settings) {
	f.Float64Var(&s.GlobalPerSecond, "global-per-second", s.GlobalPerSecond, "calls a second for the whole bot; 0 for no limit")
	f.Float64Var(&s.PaidPerSecond, "paid-per-second", s.PaidPerSecond, "calls a second that Telegram is paid for (allow_paid_broadcast), beside the others; 0 for no limit")
	f.Float64Var(&s.ChatPerSecond, "chat-per-second", s.ChatPerSecond, "calls a second for a private chat; 0 for no limit")
	f.IntVar(&s.ChatBurst, "chat-burst", s.ChatBurst, "calls a private chat takes at once")
	f.IntVar(&s.GroupPerMinute, "group-per-minute", s.GroupPerMinute, "calls a minute for a group or channel; 0 for no limit")
}

// fill reads what does not come by flag.
func (p Program) fill(s *config.Settings, g *global) error {
	err := s.Read(p.Env)
	if err != nil {
		return usage(err)
	}
	redact := func(line string) string { return s.Webhook.Secrets.Redact(s.Token.Redact(line)) }
	s.Log, err = telemetry.NewLogger(p.Stderr, g.logLevel, g.logFormat, redact)
	return usage(err)
}

// readSecrets reads the file where no secret was given.
func readSecrets(s *config.Settings, file string) error {
	if file == "" || len(s.Webhook.Secrets.Reveal()) > 0 {
		return nil
	}
	return usage(s.Webhook.Secrets.ReadFile(file))
}

func (p Program) handler(name string) (activities.Handler, error) {
	if name == "" {
		return p.Handler, nil
	}
	h, ok := p.Stock[name]
	if !ok {
		return nil, usage(fmt.Errorf("--handler: want one of %s, got %q", p.stockNames(), name))
	}
	return h, nil
}

func (p Program) stockNames() string {
	var names []string
	for name := range p.Stock {
		names = append(names, name)
	}
	sort.Strings(names)
	return strings.Join(names, ", ")
}
