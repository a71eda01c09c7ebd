package cli

import (
	"io"
	"maps"
	"time"

	"github.com/spf13/cobra"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

// stats is the answer of `stats`: what only the process on duty knows. The
// fields that nobody can tell are null.
type stats struct {
	Duty             *dutyStats               `json:"duty"`
	Limiter          *contract.LimiterFigures `json:"limiter"`
	UnreachableChats *int                     `json:"unreachable_chats"`
	Paused           *contract.Pause          `json:"paused"`

	holder starter.Holder
}

// dutyStats says which process talks to Telegram for the bot.
type dutyStats struct {
	// Holder is its Temporal identity.
	Holder string    `json:"holder"`
	Since  time.Time `json:"since"`
	// Address is that of its HTTP server, "" for none.
	Address string `json:"address"`
}

func (p Program) statsCommand(g *global) *cobra.Command {
	cmd := &cobra.Command{
		Use: "stats", Short: "Who is on duty, what waits, and what Telegram forbids", Args: noArgs,
	}
	format := output(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return p.ask(cmd.Context(), g, func(s *frontend, bot int64) error {
			h, err := s.holder(cmd.Context(), bot)
			if err != nil {
				return err
			}
			found := newStats(h)
			return p.answer(format, found, func(w io.Writer) error { return found.write(w, time.Now()) })
		})
	}
	return cmd
}

func newStats(h starter.Holder) stats {
	st := stats{Paused: h.Pause, holder: h}
	if h.Identity != "" {
		st.Duty = &dutyStats{Holder: h.Identity, Since: h.Since, Address: h.Beat.Address}
	}
	if reported(h) {
		limiter := whole(h.Beat.Figures.Limiter)
		st.Limiter, st.UnreachableChats = &limiter, &h.Beat.Figures.UnreachableChats
	}
	return st
}

// whole fills in what is nil, so that scripts find lists and numbers.
func whole(f contract.LimiterFigures) contract.LimiterFigures {
	waiting := map[contract.Priority]int{contract.Urgent: 0, contract.Normal: 0, contract.Bulk: 0}
	maps.Copy(waiting, f.Waiting)
	f.Waiting = waiting
	f.Penalties = append([]contract.Penalty{}, f.Penalties...)
	f.Learned = append([]contract.LearnedRate{}, f.Learned...)
	f.Held = append([]string{}, f.Held...)
	return f
}
