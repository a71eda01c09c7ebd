package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"syscall"
	"time"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/durabot/durabot/internal/config"
)

const (
	// probeTime bounds the look whether anybody listens, and firstAnswer the first
	// question: together they are the 5 s after which a verb gives up.
	probeTime   = time.Second
	firstAnswer = 4 * time.Second
)

// frontend is the Temporal that a verb asks once and does not wait for.
type frontend struct {
	client.Client
	options client.Options
}

// reach makes the client and returns it when somebody listens at the address. A
// refused connection is told at once: gRPC would try again until its time is over.
func (p Program) reach(ctx context.Context) (*frontend, error) {
	options, err := p.Env.Temporal()
	if err != nil {
		return nil, usage(err)
	}
	probe, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	connection, err := new(net.Dialer).DialContext(probe, "tcp", options.HostPort)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, silent(options)
	}
	if err == nil {
		_ = connection.Close() // it proved what it was for
	}
	// Every other failure may be a proxy's or a resolver's that gRPC knows how to use.
	options.Logger = sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	c, err := client.NewLazyClient(options)
	if err != nil {
		return nil, fmt.Errorf("TEMPORAL_ADDRESS %s: %w", options.HostPort, err)
	}
	return &frontend{Client: c, options: options}, nil
}

// connect is reach, and makes sure of the namespace.
func (p Program) connect(ctx context.Context) (*frontend, error) {
	s, err := p.reach(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := s.retention(ctx); err != nil {
		s.Close()
		return nil, s.why(err)
	}
	return s, nil
}

// connected has a verb do what it does with Temporal.
func (p Program) connected(ctx context.Context, do func(s *frontend) error) error {
	s, err := p.connect(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	return do(s)
}

// ask has a verb ask Temporal about a bot.
func (p Program) ask(ctx context.Context, g *global, do func(s *frontend, bot int64) error) error {
	bot, err := p.bot(g)
	if err != nil {
		return err
	}
	return p.connected(ctx, func(s *frontend) error { return do(s, bot) })
}

// retention is the namespace's. It is what every verb asks first.
func (s *frontend) retention(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, firstAnswer)
	defer cancel()
	return describe(ctx, s, s.options.Namespace)
}

// why is an error of the first question as one line that says what to do.
func (s *frontend) why(err error) error {
	if refusal := refused(err, s.options); refusal != nil {
		return refusal
	}
	return silent(s.options)
}

func silent(o client.Options) error {
	return fmt.Errorf("no answer from Temporal at %s: start it or set TEMPORAL_ADDRESS", o.HostPort)
}

// bot is the bot that a verb is about: --bot, else the token's.
func (p Program) bot(g *global) (int64, error) {
	if g.bot < 0 {
		return 0, usage(fmt.Errorf("--bot: want the number in front of the token's colon, got %d", g.bot))
	}
	if g.bot > 0 {
		return g.bot, nil
	}
	token, err := p.Env.Token()
	if errors.Is(err, config.ErrNoToken) {
		err = errors.New("no bot: give --bot ID, the number in front of the token's colon, or set TELEGRAM_BOT_TOKEN")
	}
	return token.BotID(), usage(err)
}
