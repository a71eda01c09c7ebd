package cli

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/stats"
)

const (
	// stuckFor is how long an update may be open before that is a finding.
	stuckFor = time.Hour
	day      = 24 * time.Hour
)

// workChecks are the names of what is looked at below.
var workChecks = []string{"queue", "stuck_workflows", "stuck_updates", "failed_updates", "dead_letters"}

// examineWork looks at what the bot has to do, and what became of it.
func (d *doctor) examineWork(ctx context.Context, s *frontend) {
	n, err := s.numbers(ctx, d.bot, s.countable(ctx))
	d.examineQueue(n, err)
	d.examineStuck(ctx, s)
	d.examineUpdates(ctx, s)
	d.examineDead(n, err)
}

// examineQueue: a call that waits for long is behind a penalty, a pause, or a
// Telegram that is away; and all of them are behind nobody on duty.
func (d *doctor) examineQueue(n stats.Numbers, err error) {
	most := d.settings.LateAfter
	switch late := most > 0 && time.Duration(n.OldestPendingAge)*time.Second > most; {
	case err != nil:
		d.find("queue", levelWarning, "it cannot be counted: "+err.Error(), "run `durabot doctor` again")
	case late && n.Duty == nil:
		d.find("queue", levelWarning, queueText(n)+", and nobody is on duty", "start `durabot run`")
	case late && n.Paused != nil:
		d.find("queue", levelWarning, queueText(n)+", and sending is paused", "run `durabot resume`")
	case late:
		d.find("queue", levelWarning, queueText(n), "see `durabot stats` for what holds it: a penalty, a lowered rate, or Telegram away")
	default:
		d.find("queue", levelOK, queueText(n), "")
	}
}

// examineUpdates counts the updates that a person should look at.
func (d *doctor) examineUpdates(ctx context.Context, s *frontend) {
	d.examineCount(ctx, s, "stuck_updates", "open for over 1h",
		fmt.Sprintf("%s%s AND StartTime < '%s'", ofBot(d.bot), running, before(stuckFor)),
		"see `durabot update list --status running` and `durabot update show` for what they wait for")
	d.examineCount(ctx, s, "failed_updates", "in the last 24h",
		fmt.Sprintf("%s AND ExecutionStatus = 'Failed' AND CloseTime > '%s'", ofBot(d.bot), before(day)),
		"see `durabot update list --status failed`")
}

func (d *doctor) examineCount(ctx context.Context, s *frontend, name, which, query, do string) {
	n, err := s.count(ctx, query)
	switch {
	case err != nil:
		d.find(name, levelWarning, "they cannot be counted: "+err.Error(), "run `durabot doctor` again")
	case n > 0:
		d.find(name, levelWarning, fmt.Sprintf("%d %s", n, which), do)
	default:
		d.find(name, levelOK, "none "+which, "")
	}
}

// before is a time in the past as a query wants it.
func before(d time.Duration) string { return time.Now().Add(-d).UTC().Format(time.RFC3339) }

func (d *doctor) examineDead(n stats.Numbers, err error) {
	switch {
	case err != nil:
		d.find("dead_letters", levelWarning, "they cannot be counted: "+err.Error(), "run `durabot doctor` again")
	case n.DeadOpen > 0:
		d.find("dead_letters", levelWarning, fmt.Sprintf("%d open, %d in the last 24h; each waits for a person for %d days",
			n.DeadOpen, n.DeadLast24h, contract.DeadLife/day), "see `durabot dead list`, then `durabot dead replay` or `discard`")
	default:
		d.find("dead_letters", levelOK, "none open", "")
	}
}

// examineHeartbeat looks at the form of the address alone: to call it would tell
// who watches it that the bot is well.
func (d *doctor) examineHeartbeat() {
	const name = "heartbeat_url"
	if d.settings.HeartbeatURL == "" {
		d.find(name, levelOK, "none given: nobody is told when the bot falls silent", "")
		return
	}
	u, err := url.Parse(d.settings.HeartbeatURL)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		d.find(name, levelProblem, "it is no address", "give --heartbeat-url as https://… or leave it out")
		return
	}
	d.find(name, levelOK, "on duty the bot calls "+u.Hostname()+" once a minute", "")
}
