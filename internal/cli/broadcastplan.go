package cli

import (
	"time"

	"github.com/durabot/durabot/internal/broadcast"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
	"github.com/durabot/durabot/starter"
)

// broadcastPlan is what a person is shown before a broadcast starts, and the
// answer of `broadcast start`. Every field is always there, but the last.
type broadcastPlan struct {
	Name       string `json:"name"`
	WorkflowID string `json:"workflow_id"`
	// Duplicate is set when the broadcast had been started before: nothing is sent
	// by this command.
	Duplicate bool   `json:"duplicate"`
	DryRun    bool   `json:"dry_run"`
	Method    string `json:"method"`
	// Recipients get it; Duplicates and Invalid are the rows left out, and Moved the
	// chats of which the new id was taken.
	Recipients int `json:"recipients"`
	Duplicates int `json:"duplicates"`
	Moved      int `json:"moved"`
	Invalid    int `json:"invalid"`
	// Parts is 0 for what was not started.
	Parts  int    `json:"parts"`
	Origin string `json:"origin"`
	// At is null for at once.
	At *time.Time `json:"at"`
	// RatePerS and ETA are null without a limit.
	RatePerS *float64 `json:"rate_per_s"`
	ETA      *int64   `json:"eta_s"`
	Paid     bool     `json:"paid"`
	Stars    int      `json:"stars"`
	// ETAIfPaid and StarsIfPaid are null for what is paid, cannot be, or would not be
	// faster.
	ETAIfPaid   *int64 `json:"eta_s_if_paid"`
	StarsIfPaid *int   `json:"stars_if_paid"`
	// Status is there for a duplicate, and for one that was waited for.
	Status *broadcast.Status `json:"status,omitempty"`

	now, ifPaid estimate
	assumed     bool // the rates
	beside      int  // other broadcasts that run
	says        string
}

// newBroadcastPlan reckons what a broadcast that is sealed will take.
func newBroadcastPlan(b starter.Broadcast, a *starter.Audience, p pace, bot int64) broadcastPlan {
	messages := len(b.Recipients) * itemsOf(b.What.Call)
	plan := broadcastPlan{
		Name: b.Name, WorkflowID: contract.BroadcastID(bot, b.Name), Method: b.What.Call.Method, Recipients: len(b.Recipients),
		Duplicates: a.Duplicates, Moved: a.Moved, Invalid: a.InvalidRows, Origin: b.Origin, At: when(b.At), Paid: b.Paid, assumed: p.assumed,
		now: estimateOf(messages, p.perSecond(b.What, b.Paid), b.Paid),
	}
	plan.Stars, plan.ETA = plan.now.stars, plan.now.seconds()
	if plan.now.perSecond > 0 {
		plan.RatePerS = &plan.now.perSecond
	}
	plan.ifPaid = estimateOf(messages, p.perSecond(b.What, true), true)
	if faster := plan.ifPaid.perSecond == 0 || plan.ifPaid.perSecond > plan.now.perSecond; faster && !b.Paid &&
		plan.now.takes != nil && telegram.Lookup(b.What.Call.Method).Payable {
		plan.ETAIfPaid, plan.StarsIfPaid = plan.ifPaid.seconds(), &plan.ifPaid.stars
	}
	return plan
}

// seconds are for scripts, nil when nothing limits the rate.
func (e estimate) seconds() *int64 {
	if e.takes == nil {
		return nil
	}
	n := int64(*e.takes / time.Second)
	return &n
}
