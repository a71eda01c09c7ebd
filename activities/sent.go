package activities

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
)

// otherMethod stands for every method that the table of methods lacks.
const otherMethod = "other"

// Sent is how a call ended for good. Its fields hold nothing of the call's own
// words and no chat, and few values each: they may label a metric.
type Sent struct {
	// Method is spelled as the Bot API spells it; "other" for one that is not known.
	Method  string
	Outcome contract.Outcome
	// Reason is set for a dead call only.
	Reason contract.Reason
	// Priority is the class it waited in, never "".
	Priority contract.Priority
	// Waited is the time from when the call was first due to the grant of its last
	// request, failed attempts included; 0 where this attempt was granted none.
	Waited            time.Duration
	PossibleDuplicate bool
}

// ends are the ends that a failure may be. A call that is delayed or was overtaken
// has not ended, and one that was cancelled ends in its workflow.
var ends = map[string]Sent{
	contract.FailureUnreachable: {Outcome: contract.Unreachable},
	contract.FailureExpired:     {Outcome: contract.Expired},
	contract.FailureSuperseded:  {Outcome: contract.Superseded},
	contract.FailureDropped:     {Outcome: contract.Dropped},
	contract.FailureRejected:    {Outcome: contract.Dead, Reason: contract.ReasonRejected},
	contract.FailureUncertain:   {Outcome: contract.Dead, Reason: contract.ReasonUncertain},
	contract.FailureGaveUp:      {Outcome: contract.Dead, Reason: contract.ReasonGaveUp},
	contract.FailureMoved:       {Outcome: contract.Dead, Reason: contract.ReasonMovedTwice},
}

// ended is the end that err is, if it is one.
func ended(err error) (Sent, bool) {
	if err == nil {
		return Sent{Outcome: contract.Delivered}, true
	}
	app, ok := errors.AsType[*temporal.ApplicationError](err)
	if !ok {
		return Sent{}, false
	}
	end, ok := ends[app.Type()]
	return end, ok
}

// report tells Ended of the call, if it has ended.
func (t *try) report(err error) {
	end, ok := ended(err)
	if !ok || t.Ended == nil {
		return
	}
	end.Method, end.Priority = canonical(t.in.Call.Method), cmp.Or(t.in.Call.Priority, contract.Normal)
	end.PossibleDuplicate = t.entries().PossibleDuplicate
	end.Waited = max(0, t.granted.Sub(t.info.ScheduledTime)) // below 0 without a grant
	t.Ended(end)
}

// canonical is a method as the table of methods spells it. A method that the
// table lacks comes back as it was asked for, and no known one is all capitals.
func canonical(method string) string {
	capitals := strings.ToUpper(method)
	if name := telegram.Lookup(capitals).Name; name != capitals {
		return name
	}
	return otherMethod
}
