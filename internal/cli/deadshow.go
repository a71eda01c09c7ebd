package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"

	"github.com/durabot/durabot/internal/contract"
)

// shownDead is the answer of `dead show`.
type shownDead struct {
	deadRow
	// Actions are what people did to it, the latest last.
	Actions []contract.DeadAction `json:"actions"`
	// Origin is the workflow of the message, or of the update, that died.
	Origin string `json:"origin"`
	// UI is the dead letter's page in the Temporal UI, "" when nobody knows its address.
	UI string `json:"ui_url,omitempty"`
	// Payload is what was to be sent or handled, only when it was asked for.
	Payload *deadPayload `json:"payload,omitempty"`
}

func (p Program) deadShowCommand(g *global) *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show what is known of a dead letter, and what was done to it", Args: oneArg("the id of a dead letter"),
	}
	f.register(cmd.Flags(), "show the calls or the update as well, with what people wrote")
	format := output(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		id, err := p.deadWorkflow(g, args[0])
		if err != nil {
			return err
		}
		return p.connected(cmd.Context(), func(s *frontend) error {
			d, err := s.letter(cmd.Context(), id)
			if err != nil {
				return err
			}
			shown := d.shown(s.page(f.ui, id))
			if f.payload {
				if shown.Payload, err = s.deadPayload(cmd.Context(), d); err != nil {
					return err
				}
			}
			return p.answer(format, shown, func(w io.Writer) error { return shown.write(w, time.Now()) })
		})
	}
	return cmd
}

// letter looks at one dead letter, open or closed.
func (s *frontend) letter(ctx context.Context, id string) (deadLetter, error) {
	ctx, cancel := context.WithTimeout(ctx, temporalCall)
	defer cancel()
	d, err := s.inspect(ctx, id)
	if _, none := errors.AsType[*serviceerror.NotFound](err); none {
		return deadLetter{}, s.noLetter(id)
	}
	if err != nil {
		return deadLetter{}, fmt.Errorf("look at %s: %w", id, err)
	}
	letter := newDeadLetter(d.GetWorkflowExecutionInfo())
	return letter, nil
}

func (s *frontend) noLetter(id string) error {
	return fmt.Errorf("no dead letter %s in namespace %s: see `durabot dead list --all`", id, s.options.Namespace)
}

func (d deadLetter) shown(page string) shownDead {
	return shownDead{deadRow: d.row(), Actions: append([]contract.DeadAction{}, d.Actions...), Origin: d.origin(), UI: page}
}

// origin is the workflow of what died: its ID is the dead letter's with the bot
// behind the kind. A post that was no update had none.
func (d deadLetter) origin() string {
	parts := strings.SplitN(d.workflowID, "/", 4)
	if len(parts) < 4 || parts[2] == contract.DeadUpdate && strings.HasPrefix(parts[3], contract.PostPrefix) {
		return ""
	}
	return parts[2] + "/" + parts[1] + "/" + parts[3]
}

// indented is JSON for people.
func indented(v any) string {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if enc.Encode(v) != nil {
		return ""
	}
	return text.String()
}
