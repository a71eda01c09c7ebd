package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/durabot/durabot/internal/config"
)

// The levels of a finding, from the best to the worst; skipped is what could
// not be looked at because of another finding.
const (
	levelOK      = "ok"
	levelSkipped = "skipped"
	levelWarning = "warning"
	levelProblem = "problem"
)

// finding is the answer of one check. The names are stable: scripts look for them.
type finding struct {
	Name  string `json:"name"`
	Level string `json:"level"`
	Found string `json:"found"`
	Do    string `json:"do"`
}

// doctor looks at everything a bot needs and changes nothing. It never polls:
// that would take updates from a running bot.
type doctor struct {
	Program
	g        *global
	settings config.Settings
	bot      int64 // 0 when nobody said
	findings []finding
}

func (p Program) doctorCommand(g *global) *cobra.Command {
	d := &doctor{Program: p, g: g, settings: config.Defaults()}
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check the token, Telegram, Temporal, what waits, what died and the settings, and say what to do", Args: noArgs,
	}
	intakeFlags(cmd.Flags(), &d.settings)
	limitFlags(cmd.Flags(), &d.settings)
	cmd.Flags().DurationVar(&d.settings.LateAfter, "late-after", d.settings.LateAfter, "how long the oldest call may wait; 0 for any time")
	cmd.Flags().StringVar(&d.settings.HeartbeatURL, "heartbeat-url", "", "the address that the bot asks for once a minute; only its form is looked at")
	format := output(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if g.bot < 0 {
			_, err := p.bot(g)
			return err
		}
		d.examine(cmd.Context())
		if err := d.report(format.value); err != nil {
			return err
		}
		return d.verdict()
	}
	return cmd
}

// examine runs every check, those of one part after the other.
func (d *doctor) examine(ctx context.Context) {
	d.bot = d.g.bot
	d.examineTelegram(ctx)
	d.examineTemporal(ctx)
	d.examineHeartbeat()
	d.examineLimits()
}

// find notes a finding. What is to be done about it may be "".
func (d *doctor) find(name, level, found, do string) {
	d.findings = append(d.findings, finding{Name: name, Level: level, Found: oneLine(d.redact(found)), Do: oneLine(d.redact(do))})
}

// skip notes what could not be looked at, and why.
func (d *doctor) skip(why string, names ...string) {
	for _, name := range names {
		d.find(name, levelSkipped, why, "")
	}
}

// level is that of an earlier finding.
func (d *doctor) level(name string) string {
	i := slices.IndexFunc(d.findings, func(f finding) bool { return f.Name == name })
	if i < 0 {
		return levelSkipped
	}
	return d.findings[i].Level
}

func (d *doctor) problems() int {
	n := 0
	for _, f := range d.findings {
		if f.Level == levelProblem {
			n++
		}
	}
	return n
}

func (d *doctor) report(format string) error {
	if format == "json" {
		return writeJSON(d.Stdout, struct {
			OK     bool      `json:"ok"`
			Checks []finding `json:"checks"`
		}{d.problems() == 0, d.findings})
	}
	for _, f := range d.findings {
		fmt.Fprintf(d.Stdout, "%-8s %-18s %s\n", f.Level, f.Name, f.Found)
		if f.Do != "" {
			fmt.Fprintf(d.Stdout, "%-8s %-18s → %s\n", "", "", f.Do)
		}
	}
	return nil
}

// verdict is the error that makes the exit code 1.
func (d *doctor) verdict() error {
	var names []string
	for _, f := range d.findings {
		if f.Level == levelProblem {
			names = append(names, f.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("doctor found a problem with: %s", strings.Join(names, ", "))
}

// examineLimits compares the settings with the numbers that Telegram publishes
// (Bots FAQ, "My bot is hitting limits, how do I avoid this?").
func (d *doctor) examineLimits() {
	s := d.settings
	var high []string
	for _, l := range []struct {
		flag             string
		value, published float64
	}{
		{"global-per-second", s.GlobalPerSecond, 30},
		{"chat-per-second", s.ChatPerSecond, 1},
		{"group-per-minute", float64(s.GroupPerMinute), 20},
	} {
		switch {
		case !(l.value >= 0): // false for NaN, too
			d.find("limits", levelProblem, fmt.Sprintf("--%s: want 0 (off) or more, got %v", l.flag, l.value), "correct it: the bot does not start so")
			return
		case l.value == 0:
			high = append(high, "--"+l.flag+" is off")
		case l.value > l.published:
			high = append(high, fmt.Sprintf("--%s is %v, Telegram says %v", l.flag, l.value, l.published))
		}
	}
	if len(high) > 0 {
		d.find("limits", levelWarning, strings.Join(high, "; "), "expect 429s and growing penalties: lower them unless Telegram granted the bot more")
		return
	}
	d.find("limits", levelOK, fmt.Sprintf("%v/s in all, %v/s a private chat, %d/min a group", s.GlobalPerSecond, s.ChatPerSecond, s.GroupPerMinute), "")
}
