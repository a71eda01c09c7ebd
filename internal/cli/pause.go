package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

const (
	// pauseWait is how long a pause is waited for: the process on duty reports
	// every few seconds.
	pauseWait = 10 * time.Second
	pauseLook = 250 * time.Millisecond
	// reasonMost is the longest reason: a memo is no place for more.
	reasonMost = 500
)

// pauseAnswer is the answer of `pause` and `resume`.
type pauseAnswer struct {
	// Paused is the pause that is now asked for, null for none.
	Paused *contract.Pause `json:"paused"`
	// InForce is whether the process on duty keeps to the answer.
	InForce bool `json:"in_force"`
	// Holder is that process, "" for nobody.
	Holder string `json:"holder"`
}

func (p Program) pauseCommand(g *global) *cobra.Command {
	return p.pausing(g, contract.PauseSignal, &cobra.Command{Use: "pause", Short: "Stop all sending of the bot; nothing is lost"})
}

func (p Program) resumeCommand(g *global) *cobra.Command {
	return p.pausing(g, contract.ResumeSignal, &cobra.Command{Use: "resume", Short: "Take a pause back"})
}

// pausing makes pause or resume.
func (p Program) pausing(g *global, signal string, cmd *cobra.Command) *cobra.Command {
	cmd.Args = noArgs
	var reason string
	cmd.Flags().StringVar(&reason, "reason", "", "why, for those who come after")
	format := output(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkReason(reason, signal == contract.PauseSignal); err != nil {
			return usage(err)
		}
		return p.ask(cmd.Context(), g, func(s *frontend, bot int64) error {
			h, err := s.pause(cmd.Context(), bot, signal, contract.Pause{Reason: reason, By: operator(), At: time.Now()})
			if err != nil {
				return err
			}
			answer := pauseAnswer{Paused: h.Pause, InForce: keeps(h), Holder: h.Identity}
			return p.answer(format, answer, func(w io.Writer) error { return answer.write(w, signal) })
		})
	}
	return cmd
}

func checkReason(reason string, needed bool) error {
	switch {
	case needed && strings.TrimSpace(reason) == "":
		return errors.New("--reason: say why, for those who come after")
	case len(reason) > reasonMost:
		return fmt.Errorf("--reason: want at most %d bytes, got %d", reasonMost, len(reason))
	}
	return nil
}

// operator is who types, as user@host.
func operator() string {
	name, host := "unknown", "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if h, err := os.Hostname(); err == nil {
		host = h
	}
	return name + "@" + host
}

// pause signals and waits until the process on duty keeps to it, if there is one.
func (s *frontend) pause(ctx context.Context, bot int64, signal string, what contract.Pause) (starter.Holder, error) {
	call, cancel := context.WithTimeout(ctx, temporalCall)
	defer cancel()
	err := s.SignalWorkflow(call, contract.DutyID(bot), "", signal, what)
	if _, none := errors.AsType[*serviceerror.NotFound](err); none {
		return starter.Holder{}, fmt.Errorf("bot %d has no duty to %s: start it with `durabot run` first", bot, signal)
	}
	if err != nil {
		return starter.Holder{}, fmt.Errorf("%s: %w", signal, err)
	}
	for deadline := time.Now().Add(pauseWait); ; pause(ctx, pauseLook) {
		h, err := s.holder(ctx, bot)
		settled := (h.Pause != nil) == (signal == contract.PauseSignal)
		// Nobody on duty: whoever comes next knows of it.
		if err != nil || settled && (h.Identity == "" || keeps(h)) || time.Now().After(deadline) || ctx.Err() != nil {
			return h, err
		}
	}
}

func (a pauseAnswer) write(w io.Writer, signal string) error {
	text := "resumed: calls are sent again"
	if signal == contract.PauseSignal {
		text = "paused: nothing is sent"
	}
	switch asked := (a.Paused != nil) == (signal == contract.PauseSignal); {
	case a.Holder == "":
		text = "accepted: takes effect when a process is on duty"
	case !asked || !a.InForce:
		text = "accepted: " + a.Holder + " has not confirmed it yet: see `durabot stats`"
	}
	_, err := fmt.Fprintln(w, text)
	return err
}
