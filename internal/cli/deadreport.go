package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/durabot/durabot/internal/contract"
)

// refusedMost is how many refusals a person is shown.
const refusedMost = 10

// deadAnswer is the answer of `dead replay` and `dead discard`. Of the first two
// fields there is one, of the last two there are both with --wait.
type deadAnswer struct {
	Replaying *int          `json:"replaying,omitempty"`
	Discarded *int          `json:"discarded,omitempty"`
	Skipped   skips         `json:"skipped"`
	Refused   []deadRefusal `json:"refused"`
	// Delivered counts those of which nothing is left, and Dead are the others.
	Delivered *int           `json:"delivered,omitempty"`
	Dead      *[]deadRefusal `json:"dead,omitempty"`
}

// report writes what became of the letters. The error is what makes the exit code.
func (r *deadRun) report(format *choice) error {
	answer := r.answer()
	err := r.verdict(answer)
	if r.single() && len(answer.Refused) == 1 && format.value != "json" {
		return err // one line says it all
	}
	wrote := r.Program.answer(format, answer, func(w io.Writer) error { return answer.write(w, r.verb.doing) })
	return errors.Join(wrote, err)
}

func (r *deadRun) answer() deadAnswer {
	n := len(r.accepted)
	a := deadAnswer{Skipped: r.skipped, Refused: r.refused}
	if r.verb.update == contract.DiscardUpdate {
		a.Discarded = &n
	} else {
		a.Replaying = &n
	}
	if !r.followed {
		return a
	}
	delivered, dead := 0, []deadRefusal{}
	for _, d := range r.accepted {
		switch {
		case d.State == contract.DeadReplayed:
			delivered++
		case d.Replaying: // the wait ended first
		default:
			dead = append(dead, deadRefusal{ID: d.id(), Why: string(d.Reason) + behind(": ", short(d.Error, errorLength))})
		}
	}
	a.Delivered, a.Dead = &delivered, &dead
	return a
}

// single reports whether there is one letter, named by its id.
func (r *deadRun) single() bool { return r.targets.named() && len(r.chosen) == 1 }

func (r *deadRun) verdict(a deadAnswer) error {
	switch {
	case errors.Is(r.failed, context.Canceled):
		return fmt.Errorf("interrupted: %d of %d have answered, and what they accepted goes on; the same command does the rest",
			len(r.accepted)+len(a.Refused), len(r.chosen))
	case r.failed != nil:
		return r.failed
	case r.single() && len(a.Refused) == 1:
		return fmt.Errorf("%s: %s", a.Refused[0].ID, a.Refused[0].Why)
	case len(a.Refused) > 0:
		return fmt.Errorf("%d of %d were refused", len(a.Refused), len(r.chosen))
	case r.followed && *a.Delivered < len(r.accepted):
		return fmt.Errorf("%d of %d were not delivered", len(r.accepted)-*a.Delivered, len(r.accepted))
	}
	return nil
}

func (a deadAnswer) write(w io.Writer, doing string) error {
	n := a.Replaying
	if n == nil {
		n = a.Discarded
	}
	text := fmt.Sprintf("%s %d", doing, *n) + behind("; skipped: ", a.Skipped.String())
	if len(a.Refused) > 0 {
		text += fmt.Sprintf("; refused: %d", len(a.Refused))
	}
	fmt.Fprintln(w, text)
	writeRefusals(w, a.Refused)
	if a.Delivered == nil {
		return nil
	}
	fmt.Fprintf(w, "delivered %d; still dead: %d\n", *a.Delivered, len(*a.Dead))
	writeRefusals(w, *a.Dead)
	return nil
}

func writeRefusals(w io.Writer, all []deadRefusal) {
	for _, one := range all[:min(len(all), refusedMost)] {
		fmt.Fprintf(w, "  %s: %s\n", one.ID, one.Why)
	}
	if more := len(all) - refusedMost; more > 0 {
		fmt.Fprintf(w, "  and %d more: see -o json\n", more)
	}
}
