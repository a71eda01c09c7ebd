package workflows_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/contract"
)

// ways are how a call of a replay may end.
var ways = []string{
	"", contract.FailureRejected, contract.FailureUncertain, contract.FailureGaveUp, contract.FailureUnreachable,
	contract.FailureExpired, contract.FailureSuperseded, contract.FailureDropped,
}

// Whatever the calls and however their replays end: what arrived is never made
// again, nothing is made out of order but what is independent, nothing gets lost,
// and what may have arrived is made again only where a duplicate was allowed.
func TestADeliveredCallIsNeverMadeAgain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s := newGrave(t)
		var all []contract.Call
		next := 0
		for range rapid.IntRange(1, 4).Draw(r, "calls") {
			next++
			call := say(strconv.Itoa(next))
			if rapid.Bool().Draw(r, "in parts") {
				next++
				call = long(name(call) + "|" + strconv.Itoa(next))
			}
			call.Independent = rapid.Bool().Draw(r, "independent")
			all = append(all, call)
		}
		arrived, unsure, done := map[string]bool{}, map[string]bool{}, map[string]bool{}
		allowed := false
		s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
			what := name(in.Call)
			require.False(t, done[what], "%s was over", what)
			require.True(t, allowed || !unsure[what], "%s may have arrived", what)
			way := rapid.SampledFrom(ways).Draw(r, "way of "+what)
			switch way {
			case "":
				arrived[what], done[what] = true, true
				return numbered(ctx, in)
			case contract.FailureUncertain:
				unsure[what] = true
			case contract.FailureSuperseded, contract.FailureDropped:
				done[what] = true
			}
			return contract.CallResult{}, final(way, contract.CallResult{Method: in.Call.Method})
		}
		for i := range rapid.IntRange(1, 6).Draw(r, "replays") {
			allow := rapid.Bool().Draw(r, "allow a duplicate")
			s.env.RegisterDelayedCallback(func() {
				allowed = allow
				s.doesNow(contract.ReplayUpdate, contract.Replay{By: ann, AllowDuplicate: allow}, new(answer))
			}, time.Duration(i+1)*time.Hour)
		}
		state := s.lies(s.deadLetter(all...))
		require.Equal(t, len(arrived), state.Delivered)
		require.Equal(t, state.State == contract.DeadReplayed, state.Left == 0)
		if state.Left == 0 {
			require.GreaterOrEqual(t, len(done), len(all))
		}
	})
}
