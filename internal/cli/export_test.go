package cli

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/durabot/durabot/internal/broadcast"
	"github.com/durabot/durabot/internal/cli/story"
	"github.com/durabot/durabot/internal/config"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

// These are tested without the servers that a whole command needs: an hour of
// waiting, a UI that is elsewhere, words for every state a call can be in.
var (
	FirstContact = firstContact
	DefaultUI    = defaultUI
	Brief        = brief
	Short        = short
	CallText     = callText
	Ends         = ends
)

// StoryText is the timeline of `update show`.
var StoryText = writeStory

// SendParams are the parameters that send makes of --params and --chat.
func SendParams(params, chat string) (json.RawMessage, error) {
	o := newSendFlags().order
	o.params, o.chat = params, chat
	given, err := o.parameters()
	if err != nil {
		return nil, err
	}
	return o.address(given)
}

// Shown is what it shows.
type Shown = shown

// ParseLine is the message that a line of a file asks for.
func ParseLine(text []byte) (starter.Message, error) {
	f := newSendFlags()
	f.given = func(string) bool { return false }
	return parseLine(text, f.defaults())
}

// SendReport is the answer of `send --from`.
type SendReport = sendReport

// SendSheet has the lines of a file accepted by accept.
func SendSheet(ctx context.Context, file string, accept func(context.Context, starter.Message) (starter.Accepted, error)) (SendReport, error) {
	var p Program
	s, err := p.openSheet(file)
	if err != nil {
		return SendReport{}, err
	}
	defer s.close()
	f := newSendFlags()
	f.given = func(string) bool { return false }
	return newBatch(accept, progressbar.DefaultSilent(1)).run(ctx, s, f.defaults())
}

// MessageConditions are those of a list's --outcome.
func MessageConditions(outcome string, now time.Time, known bool) (open, closed string, needs bool) {
	return messageFilter{outcome: &choice{value: outcome}}.conditions(now, known)
}

// MessageText is the timeline of `message show`.
func MessageText(w io.Writer, m story.Message) error {
	return shownMessage{told: message{Message: m}}.write(w)
}

// ReportRow is a report with one row, whose error is text.
func ReportRow(w io.Writer, text string) error {
	rows := newRowWriter(w, "csv")
	if err := rows.write(broadcast.Row{Error: text}); err != nil {
		return err
	}
	return rows.close()
}

// Estimate is how long so many messages take, 0 without a limit, and their price.
func Estimate(messages int, perSecond float64, paid bool) (time.Duration, int) {
	e := estimateOf(messages, perSecond, paid)
	if e.takes == nil {
		return 0, e.stars
	}
	return *e.takes, e.stars
}

// SaysTo is what a preview shows of a call.
func SaysTo(what contract.BroadcastCall) string {
	return saysTo(starter.Broadcast{What: what, Recipients: make([]contract.Recipient, 1)})
}

// SettingFindings are the level and the text of what doctor finds before it asks
// Temporal anything.
func SettingFindings(env config.Env, perSecond float64) map[string][2]string {
	d := &doctor{Program: Program{Env: env}, settings: config.Defaults()}
	d.settings.GlobalPerSecond = perSecond
	d.examineSettings()
	all := map[string][2]string{}
	for _, f := range d.findings {
		all[f.Name] = [2]string{f.Level, f.Found}
	}
	return all
}
