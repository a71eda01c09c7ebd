package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/durabot/durabot/internal/config"
	"github.com/durabot/durabot/internal/devserver"
	"github.com/durabot/durabot/internal/telegramsim"
	"github.com/durabot/durabot/starter"
)

// uiOffset is between the ports of the Temporal dev server and of its UI.
const uiOffset = 1000

// dev is everything on one machine.
type dev struct {
	Program
	g        *global
	settings config.Settings
	simAddr  string
	port     int
	db       string
	telegram bool
}

func (p Program) devCommand(g *global) *cobra.Command {
	d := &dev{Program: p, g: g, settings: config.Defaults()}
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run everything on this machine: Temporal, its UI, a Telegram simulator with a chat page, the bot",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return d.run(cmd.Context()) },
	}
	f := cmd.Flags()
	botFlags(f, &d.settings)
	f.StringVar(&d.settings.HTTP, "http", d.settings.HTTP, "address of /healthz, /readyz, /metrics and /api/v1/stats")
	f.StringVar(&d.simAddr, "sim", "127.0.0.1:8081", "address of the simulator and its chat page")
	f.IntVar(&d.port, "temporal-port", 7233, "port of Temporal; its UI has the port 1000 above")
	f.StringVar(&d.db, "db", ".dev/temporal.db", "Temporal's database; everything else that lasts lies beside it")
	f.BoolVar(&d.telegram, "telegram", false, "use the real Telegram with TELEGRAM_BOT_TOKEN instead of the simulator")
	return cmd
}

// run brings everything up, the bot last, and takes it down in reverse.
func (d *dev) run(ctx context.Context) (err error) {
	if err := d.fillDev(); err != nil {
		return err
	}
	path, err := devserver.Find(ctx, devserver.FindOptions{Progress: d.Stderr})
	if err != nil {
		return err
	}
	temporal, err := devserver.Start(ctx, devserver.Options{
		Path: path, Port: d.port, UIPort: d.port + uiOffset, DBFile: d.db, LogFile: d.beside("temporal.log"),
	})
	if err != nil {
		return err
	}
	defer temporal.Stop()
	chat := "the real Telegram"
	if !d.telegram {
		sim, err := startSim(ctx, d.simAddr, telegramsim.Options{
			Token: d.settings.Token.Reveal(), StateFile: d.beside("telegram.json"), TemporalUI: temporal.UIURL(), PlainWebhooks: true,
		})
		if err != nil {
			return fmt.Errorf("--sim: %w", err)
		}
		defer sim.stop() //nolint:errcheck // its state is written as it changes
		d.settings.APIURL, chat = "http://"+sim.addr, "http://"+sim.addr
	}
	d.settings.Temporal.HostPort, d.settings.Temporal.Namespace = temporal.Addr(), "default"
	fmt.Fprintf(d.Stdout, "\n  Chat page    %s\n  Temporal UI  %s\n  Bot          http://%s/readyz\n\n  Ctrl-C stops all of it; what was said is kept in %s.\n\n",
		chat, temporal.UIURL(), d.settings.HTTP, filepath.Dir(d.db))
	return d.serve(ctx, temporal)
}

// serve runs the bot until ctx ends or Temporal is gone.
func (d *dev) serve(asked context.Context, temporal *devserver.Server) error {
	ctx, cancel := context.WithCancelCause(asked)
	defer cancel(nil)
	go func() {
		if err, ok := <-temporal.Done(); ok {
			cancel(err)
		}
	}()
	if err := Serve(ctx, d.Handler, d.settings); err != nil {
		return err
	}
	if asked.Err() != nil {
		return nil
	}
	return context.Cause(ctx)
}

// fillDev reads the settings and refuses wrong ones before anything is started.
func (d *dev) fillDev() error {
	p := d.Program
	if !d.telegram {
		p.Env = simEnv(p.Env)
	}
	if err := p.fill(&d.settings, d.g); err != nil {
		return err
	}
	if !d.telegram {
		d.useSim()
	}
	if most := 65535 - uiOffset; d.port < 1 || d.port > most {
		return usage(fmt.Errorf("--temporal-port: want 1 to %d, got %d", most, d.port))
	}
	return usage(d.settings.Validate())
}

// useSim sets what the simulator makes possible: its webhook is nobody else's, and
// it posts to this machine.
func (d *dev) useSim() {
	d.settings.TakeOver = true
	if d.settings.Intake != "webhook" {
		return
	}
	d.settings.APIURL = "http://" + d.simAddr // not Telegram's own; known for sure once it listens
	if d.settings.Webhook.URL == "" && !strings.HasSuffix(d.settings.HTTP, ":0") {
		d.settings.Webhook.URL = "http://" + d.settings.HTTP + starter.WebhookPath
	}
	if len(d.settings.Webhook.Secrets.Reveal()) == 0 {
		_ = d.settings.Webhook.Secrets.Set("of-the-simulator") // it never fails
	}
}

// simEnv is the environment with the simulator's token in place of a real one,
// which must not be used by mistake.
func simEnv(env config.Env) config.Env {
	return func(name string) (string, bool) {
		switch name {
		case "TELEGRAM_BOT_TOKEN":
			return telegramsim.DefaultToken, true
		case "TELEGRAM_BOT_TOKEN_FILE", "TELEGRAM_API_URL":
			return "", false
		}
		return env(name)
	}
}

func (d *dev) beside(name string) string { return filepath.Join(filepath.Dir(d.db), name) }
