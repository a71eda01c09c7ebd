package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/durabot/durabot/internal/config"
)

const (
	// healthWithin bounds the question: a process that takes longer for a page it
	// knows by heart is stuck.
	healthWithin = 5 * time.Second
	// healthMost is more than /healthz ever says.
	healthMost = 1 << 10
)

// healthCommand is for whoever can only run a program in the bot's place, such as
// a container engine, whose images have no shell.
func (p Program) healthCommand() *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use: "health", Short: "Ask a running bot's /healthz: exit 0 while it works", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, _, err := net.SplitHostPort(address); err != nil {
				return usage(fmt.Errorf("--http: want HOST:PORT, got %q", address))
			}
			return p.health(cmd.Context(), address)
		},
	}
	cmd.Flags().StringVar(&address, "http", config.Defaults().HTTP, "address that the bot was given as --http")
	return cmd
}

// health prints what the bot says of itself when it works. Its answer otherwise
// is the error.
func (p Program) health(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, healthWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/healthz", http.NoBody)
	if err != nil {
		return usage(fmt.Errorf("--http: want HOST:PORT, got %q", address))
	}
	own := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // no proxy between a bot and itself
	res, err := own.Do(req)
	if err != nil {
		return fmt.Errorf("no answer from a bot at %s: %w", address, errors.Unwrap(err))
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, healthMost))
	if err != nil {
		return fmt.Errorf("no whole answer from %s: %w", address, err)
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", address, text)
	}
	fmt.Fprintln(p.Stdout, oneLine(string(text)))
	return nil
}
