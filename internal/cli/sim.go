package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/durabot/durabot/internal/telegramsim"
)

func (p Program) simCommand(*global) *cobra.Command {
	var addr, state string
	cmd := &cobra.Command{
		Use: "sim", Short: "Run a Telegram simulator with a chat page", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sim, err := startSim(cmd.Context(), addr, telegramsim.Options{StateFile: state, PlainWebhooks: true})
			if err != nil {
				return err
			}
			fmt.Fprintf(p.Stdout, "Chat page  http://%s\nBot API    TELEGRAM_API_URL=http://%s TELEGRAM_BOT_TOKEN=%s\n", sim.addr, sim.addr, sim.Token())
			<-cmd.Context().Done()
			return sim.stop()
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:8081", "address of the Bot API and the chat page")
	cmd.Flags().StringVar(&state, "state", "", "file that keeps chats and updates over a restart; empty for none")
	return cmd
}

// simulator is a running telegramsim.Sim.
type simulator struct {
	*telegramsim.Sim
	addr string
	http *http.Server
}

func startSim(ctx context.Context, addr string, o telegramsim.Options) (*simulator, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("the simulator's address: %w: choose another one", err)
	}
	sim, err := telegramsim.New(o) //nolint:contextcheck // what it starts ends with Close
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	s := &simulator{Sim: sim, addr: listener.Addr().String(), http: &http.Server{
		Handler: sim.Handler(), ReadHeaderTimeout: 10 * time.Second,
	}}
	go s.http.Serve(listener) //nolint:errcheck // ends with Close, and then always with an error
	return s, nil
}

// stop ends the simulator and keeps its state.
func (s *simulator) stop() error { return errors.Join(s.http.Close(), s.Close()) }
