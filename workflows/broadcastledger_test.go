package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// once makes the first batch fail and the others reach everybody.
func (s *share) once(err error) {
	first := true
	s.send = func(ctx workflow.Context, in contract.BatchInput) (contract.BatchResult, error) {
		if first {
			first = false
			return contract.BatchResult{}, err
		}
		return reaches(ctx, in)
	}
}

// What is known of a batch of four when its process dies: 1000 has its result,
// 1001 is in flight, 1002 was tried, 1003 was not.
func TestABatchThatFailsIsJudgedByItsLedger(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	ledger := contract.BatchLedger{
		Attempt: 1, Results: []contract.RecipientResult{got("1000", at)}, InFlight: []string{"1001"},
		Left: []contract.Addressee{
			{Recipient: contract.Recipient{Chat: "1002"}, NotBefore: at, Ledger: &contract.Ledger{Failures: 1}},
			{Recipient: contract.Recipient{Chat: "1001"}, Ledger: &contract.Ledger{Degraded: true}},
		},
	}
	mistyped := struct{ Method string }{"sendMessage"}
	var none []string
	all := []string{"1000", "1001", "1002", "1003"}
	for name, c := range map[string]struct {
		started   int64
		err       error
		stand     []string // have their results
		uncertain []string // nobody knows
		trouble   bool
	}{
		"silent":                      {6, temporal.NewHeartbeatTimeoutError(ledger), all[:1], all[1:2], false},
		"silent before it began":      {6, temporal.NewHeartbeatTimeoutError(), none, none, false},
		"never begun":                 {0, temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE, nil), none, none, false},
		"out of time":                 {6, temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_START_TO_CLOSE, nil, ledger), all[:1], all[1:2], false},
		"cancelled in its queue":      {0, temporal.NewCanceledError("ACTIVITY_ID_NOT_STARTED"), none, none, false},
		"cancelled, with its ledger":  {6, temporal.NewCanceledError(ledger), all[:1], all[1:2], false},
		"cancelled, without":          {6, temporal.NewCanceledError(), none, all, true},
		"an error with its ledger":    {6, final("Broken", ledger), all[:1], all[1:2], false},
		"an error of its own":         {6, final("Broken"), none, all, true},
		"with details of another":     {6, final("Broken", mistyped), none, all, true},
		"a timeout that is no ledger": {6, temporal.NewHeartbeatTimeoutError(mistyped), none, all, true},
	} {
		for _, delivery := range []contract.Delivery{contract.AtMostOnce, contract.AtLeastOnce} {
			t.Run(name+" "+string(delivery), func(t *testing.T) {
				t.Parallel()
				s := newShare(t)
				s.once(fromServer(t, c.started, c.err))
				s.orders(contract.PartGo, 0)
				s.orders(contract.BroadcastResume, time.Hour)
				res := s.ends(s.of(4, delivery))
				uncertain := map[string]bool{}
				for _, chat := range c.uncertain {
					uncertain[chat] = true
				}
				again := map[string]*contract.Ledger{}
				for _, b := range s.started[1:] {
					for _, a := range b.Recipients {
						require.NotContains(t, again, a.Chat, "batched again once")
						again[a.Chat] = a.Ledger
						require.Equal(t, "1", a.Fields["n"], "a ledger holds no fields")
					}
				}
				for _, r := range res.Results {
					switch {
					case uncertain[r.Chat] && delivery == contract.AtMostOnce && c.trouble:
						require.Equal(t, "uncertain", r.Told())
						require.NotContains(t, again, r.Chat)
					case uncertain[r.Chat] && delivery == contract.AtMostOnce:
						require.True(t, again[r.Chat].InFlight, "whoever sent it may know, and no other sends it")
						require.False(t, again[r.Chat].PossibleDuplicate)
					case uncertain[r.Chat]:
						require.True(t, again[r.Chat].PossibleDuplicate)
						require.False(t, again[r.Chat].InFlight)
					case len(c.stand) > 0 && r.Chat == "1000":
						require.Equal(t, at, r.At.UTC())
						require.NotContains(t, again, r.Chat)
					case len(c.stand) > 0 && r.Chat == "1002":
						require.Equal(t, &contract.Ledger{Failures: 1}, again[r.Chat])
					default:
						require.Nil(t, again[r.Chat])
						require.Contains(t, again, r.Chat)
					}
				}
				require.Equal(t, c.trouble, s.reports[0].Trouble != "")
			})
		}
	}
}

// A batch must say of each of its recipients what became of it. Whom it forgets
// it may have reached.
func TestWhomABatchForgetsIsUncertain(t *testing.T) {
	t.Parallel()
	s := newShare(t)
	s.send = func(ctx workflow.Context, in contract.BatchInput) (contract.BatchResult, error) {
		now := workflow.Now(ctx)
		return contract.BatchResult{
			Results: []contract.RecipientResult{got("1000", now), got("1000", now), got("77", now)},
			Left:    []contract.Addressee{{Recipient: contract.Recipient{Chat: "1000"}}},
		}, nil
	}
	s.orders(contract.PartGo, 0)
	require.Equal(t, map[string]int{"delivered": 1, "uncertain": 2}, tells(s.ends(s.of(3, contract.AtMostOnce))))
}

func TestAfterBatchesThatFailThePartWaitsEverLonger(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(contract.BatchInput) (contract.BatchResult, error){
		"fail": func(contract.BatchInput) (contract.BatchResult, error) {
			return contract.BatchResult{}, temporal.NewHeartbeatTimeoutError()
		},
		"reach nobody": func(in contract.BatchInput) (contract.BatchResult, error) {
			return contract.BatchResult{Left: in.Recipients}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShare(t)
			var at []time.Duration
			s.send = func(ctx workflow.Context, in contract.BatchInput) (contract.BatchResult, error) {
				at = append(at, workflow.Now(ctx).Sub(s.start).Round(time.Second))
				if len(at) > 14 {
					return reaches(ctx, in)
				}
				return fail(in)
			}
			s.orders(contract.PartGo, 0)
			s.ends(s.of(200, contract.AtMostOnce))
			seconds := []time.Duration{0, 5, 11, 23, 47, 95, 155} // two at a time; the first wait is that for others, too
			for i, second := range seconds {
				require.Equal(t, second*time.Second, at[2*i], "%v", at)
				require.Equal(t, at[2*i], at[2*i+1])
			}
		})
	}
}
