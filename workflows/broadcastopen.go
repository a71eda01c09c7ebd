package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// openPart is a part that was let go and has not ended.
type openPart struct {
	// report is the last one by which it said that it merely waits.
	report contract.PartReport
	waits  bool
	// told is the last order that it has got, "" for none. One at a time is on its
	// way, word, since two could arrive in either order.
	told, word string
	sending    workflow.Future
}

// word is the order that says where the broadcast stands.
func (b *broadcast) word() string {
	switch b.state.Phase {
	case contract.BroadcastPaused:
		return contract.BroadcastPause
	case contract.BroadcastCancelled:
		return contract.BroadcastCancel
	default:
		return contract.PartGo
	}
}

// due is the order that a part has to get, "" for none.
func (b *broadcast) due(p *openPart) string {
	word := b.word()
	switch {
	case p.told == "":
		return contract.PartGo
	case word == contract.PartGo && p.told == contract.BroadcastPause:
		return contract.BroadcastResume
	case word == contract.PartGo || word == p.told:
		return ""
	default:
		return word
	}
}

// letGo opens parts while too few of them go.
func (b *broadcast) letGo(ctx workflow.Context) {
	going := 0
	for _, p := range b.open {
		if !p.waits {
			going++
		}
	}
	for b.mayGo(ctx, going) {
		if b.state.BeganAt.IsZero() {
			b.state.BeganAt = workflow.Now(ctx)
		}
		b.open = append(b.open, &openPart{report: contract.PartReport{Part: b.next}})
		b.next++
		going++
	}
}

// mayGo reports whether another part may go beside so many.
func (b *broadcast) mayGo(ctx workflow.Context, going int) bool {
	if b.state.Phase != contract.BroadcastRunning || b.next > len(b.in.Sizes) || going >= partsGoing {
		return false
	}
	return going < partsGoingBefore || has(ctx, threeParts)
}

// hear takes in what a part reports. A part in trouble has paused itself, whatever
// it was told or is being told.
func (b *broadcast) hear(now time.Time, r contract.PartReport) {
	i := slices.IndexFunc(b.open, func(p *openPart) bool { return p.report.Part == r.Part })
	if i < 0 {
		return
	}
	p := b.open[i]
	switch {
	case r.Ended:
		b.close(p, r.Counts)
	case r.Trouble != "":
		p.told, p.word = contract.BroadcastPause, contract.BroadcastPause
	default:
		p.report, p.waits = r, true
	}
	if r.Trouble != "" {
		b.act(now, contract.BroadcastOrder{What: contract.BroadcastPause, By: contract.ByDurabot, Reason: r.Trouble})
	}
}

// lose closes a part of which nothing more will be heard.
func (b *broadcast) lose(p *openPart) {
	unknown := b.in.Sizes[p.report.Part-1] - p.report.Counts.Sum()
	b.close(p, p.report.Counts)
	b.count(string(contract.ReasonUncertain), unknown)
}

func (b *broadcast) close(p *openPart, counts contract.Counts) {
	b.state.Counts.Merge(counts)
	b.open = slices.DeleteFunc(b.open, func(o *openPart) bool { return o == p })
}

// count counts recipients that no part has counted.
func (b *broadcast) count(told string, n int) {
	if n > 0 {
		b.state.Counts.Merge(contract.Counts{Outcomes: map[string]int{told: n}})
	}
}
