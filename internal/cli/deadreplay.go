package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/durabot/durabot/internal/contract"
)

// replayFlags say how dead letters are replayed.
type replayFlags struct {
	reason, edit   string
	allowDuplicate bool
	ttl            time.Duration
	wait           bool
}

func (p Program) deadReplayCommand(g *global) *cobra.Command {
	var f replayFlags
	t := &deadTargets{}
	cmd := &cobra.Command{
		Use: "replay ID...", Short: "Send dead letters again: those named, or those that a filter finds",
		Long: "Send dead letters again: those named by their id, or those that a filter finds. Those of one chat are sent in the\n" +
			"order in which they were accepted. A filter skips what may have arrived, what is too late, what is too large, and\n" +
			"what goes to a chat that is closed to the bot.",
	}
	t.flags(cmd.Flags())
	f.flags(cmd.Flags())
	format := output(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t.ids = args
		replay, err := f.replay(t)
		if err != nil {
			return usage(err)
		}
		return p.actOn(cmd.Context(), g, t, replayVerb(replay), func(r *deadRun) error {
			if f.wait {
				r.follow(cmd.Context())
			}
			return r.report(format)
		})
	}
	return cmd
}

func (f *replayFlags) flags(flags *pflag.FlagSet) {
	flags.StringVar(&f.reason, "reason", "", "why, for those who come after")
	flags.StringVar(&f.edit, "edit", "", "change the parameters first: a JSON merge patch, or @FILE that holds one; for one id only")
	flags.BoolVar(&f.allowDuplicate, "allow-duplicate", false, "send also what may have arrived already")
	flags.DurationVar(&f.ttl, "ttl", 0, "give the calls this much time from now, as one that is too late needs")
	flags.BoolVar(&f.wait, "wait", false, "wait until each has ended; exit 1 unless all were delivered")
}

// replay is what each letter is asked for.
func (f *replayFlags) replay(t *deadTargets) (contract.Replay, error) {
	replay := contract.Replay{By: operator(), Reason: f.reason, AllowDuplicate: f.allowDuplicate, TTL: f.ttl}
	if err := checkReason(f.reason, false); err != nil {
		return replay, err
	}
	if f.ttl < 0 {
		return replay, fmt.Errorf("--ttl: want a duration such as 1h, got %v", f.ttl)
	}
	if f.edit == "" {
		return replay, nil
	}
	if len(t.ids) != 1 {
		return replay, errors.New("--edit: name one dead letter by its id")
	}
	var err error
	replay.Edit, err = parseEdit(f.edit)
	return replay, err
}

// parseEdit reads a JSON object, or the file that @FILE names. No error quotes it.
func parseEdit(text string) (json.RawMessage, error) {
	data := []byte(text)
	if file, ok := strings.CutPrefix(text, "@"); ok {
		var err error
		if data, err = os.ReadFile(file); err != nil { //nolint:gosec // the caller names the file
			return nil, fmt.Errorf("--edit: %w", err)
		}
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil || object == nil {
		return nil, errors.New(`--edit: want a JSON object such as {"text":"hi"}, or @FILE that holds one`)
	}
	return data, nil
}

func replayVerb(replay contract.Replay) deadVerb {
	return deadVerb{
		name: "replay", doing: "replaying", update: contract.ReplayUpdate, ordered: true,
		args: func(after string) any {
			one := replay
			one.After = after
			return one
		},
		skip: func(d deadLetter, closed map[string]bool) string {
			return skipReplay(d, closed, replay.AllowDuplicate, replay.TTL > 0, time.Now())
		},
	}
}
