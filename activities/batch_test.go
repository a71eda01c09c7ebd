package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

func TestABatchReachesEachRecipientOnceInTheBulkOfItsBroadcast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMailing(t).process(t)
		m.api.answer = func(context.Context, string, int) error { time.Sleep(40 * time.Millisecond); return nil }
		in := news(100)
		in.What.Rate = 7
		res, err := m.send(t, in)
		require.NoError(t, err)
		require.Equal(t, map[string]int{"delivered": 100}, outcomes(t, in, res))
		require.NotEmpty(t, res.Results[0].MessageID)
		require.Len(t, m.api.got, 100)
		require.Len(t, m.api.asked, 100)
		require.LessOrEqual(t, m.api.most, 10)
		for _, w := range m.budget.wants {
			require.Equal(t, contract.Bulk, w.Priority)
			require.Equal(t, "news", w.Flow)
			require.InDelta(t, 7, w.FlowRate, 0)
			require.False(t, w.Paid)
		}
	})
}

func TestWhatIsPaidForIsAskedForAsPaid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMailing(t).process(t)
		in := news(1)
		in.What.Call.Params = json.RawMessage(`{"text":"hi","allow_paid_broadcast":true}`)
		_, err := m.send(t, in)
		require.NoError(t, err)
		require.True(t, m.budget.wants[0].Paid)
		require.JSONEq(t, `{"chat_id":1,"text":"hi","allow_paid_broadcast":true}`, m.api.asked[0])
	})
}

func TestEachRecipientGetsItsOwnFields(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMailing(t).process(t)
		in := news(1)
		in.What.Template = true
		in.What.Call.Params = json.RawMessage(`{"text":"Hi {{.name}}"}`)
		in.Recipients[0].Fields = map[string]string{"name": "Ann"}
		in.Recipients = append(in.Recipients, contract.Addressee{Recipient: contract.Recipient{Chat: "@news"}})
		res, err := m.send(t, in)
		require.NoError(t, err)
		require.Equal(t, map[string]int{"delivered": 1, "rejected": 1}, outcomes(t, in, res), "a field that is missing harms nobody else")
		require.Equal(t, []string{`{"chat_id":1,"text":"Hi Ann"}`}, m.api.asked)
	})
}

// Where the budget is short a recipient is marked only once it has its grant: a
// crash leaves in doubt who is in the air, two at most. Where it is at hand ten are.
func TestWhoMayHaveGotItIsWrittenBefore(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ wait, fewest, most int }{"scarce": {400, 1, 2}, "plenty": {0, 8, 10}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := newMailing(t).process(t)
				m.budget.acquire = func(context.Context) error {
					time.Sleep(time.Duration(row.wait) * time.Millisecond)
					return nil
				}
				var mu sync.Mutex
				widest := 0
				m.api.answer = func(_ context.Context, chat string, _ int) error {
					last := m.server.last()
					mu.Lock()
					widest = max(widest, len(last.InFlight))
					mu.Unlock()
					assert.Contains(t, last.InFlight, chat)
					time.Sleep(40 * time.Millisecond)
					return nil
				}
				_, err := m.send(t, news(60))
				require.NoError(t, err)
				require.GreaterOrEqual(t, widest, row.fewest)
				require.LessOrEqual(t, widest, row.most)
			})
		})
	}
}

// A batch that asked only when the last answer was there would come late to its
// turn, and a larger broadcast take it.
func TestWhereTheBudgetIsShortTheNextOneWaitsWhileOneIsInTheAir(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMailing(t).process(t)
		var waiting, ready atomic.Int64
		turn := make(chan struct{}, 1)
		m.budget.acquire = func(context.Context) error {
			waiting.Add(1)
			defer waiting.Add(-1)
			turn <- struct{}{}
			time.Sleep(400 * time.Millisecond)
			<-turn
			return nil
		}
		m.api.answer = func(context.Context, string, int) error {
			time.Sleep(40 * time.Millisecond)
			if waiting.Load() > 0 {
				ready.Add(1)
			}
			return nil
		}
		_, err := m.send(t, news(60))
		require.NoError(t, err)
		require.GreaterOrEqual(t, ready.Load(), int64(58), "at every answer but the last")
	})
}

func TestWhatCannotBeMarkedIsNotSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMailing(t).process(t)
		began := time.Now()
		m.server.fail = func(contract.BatchLedger) error {
			if time.Since(began) < 8*time.Second {
				return errAway
			}
			return nil
		}
		in := news(20)
		res, err := m.send(t, in)
		require.NoError(t, err)
		require.Equal(t, map[string]int{"delivered": 20}, outcomes(t, in, res))
		require.Len(t, m.api.asked, 20)
		require.GreaterOrEqual(t, time.Since(began), 8*time.Second)
	})
}

func TestShortWaitsAreSatOutAndLongOnesAreLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMailing(t).process(t)
		var mu sync.Mutex
		began, first := time.Now(), map[string]bool{}
		m.api.answer = func(_ context.Context, chat string, _ int) error {
			mu.Lock()
			defer mu.Unlock()
			if again := first[chat]; again || chat > "2" {
				return nil
			}
			first[chat] = true
			return map[string]error{"1": limited(20 * time.Second), "2": limited(time.Hour)}[chat]
		}
		in := news(5)
		res, err := m.send(t, in)
		require.NoError(t, err)
		require.Equal(t, map[string]int{"delivered": 4, "left": 1}, outcomes(t, in, res))
		require.Equal(t, "2", res.Left[0].Chat)
		require.GreaterOrEqual(t, res.Left[0].NotBefore.Sub(began), time.Hour)
		require.GreaterOrEqual(t, time.Since(began), 20*time.Second)
		require.Less(t, time.Since(began), 25*time.Second)
		require.Len(t, m.budget.penalties, 2)
	})
}

func TestABatchThatIsStoppedReturnsWhatIsDoneAndLeavesTheRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMailing(t).process(t)
		began := time.Now()
		m.server.fail = func(contract.BatchLedger) error {
			if time.Since(began) > 3*time.Second {
				return temporal.NewCanceledError()
			}
			return nil
		}
		m.budget.acquire = func(ctx context.Context) error {
			select {
			case <-time.After(300 * time.Millisecond):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		in := news(100)
		res, err := m.send(t, in)
		require.NoError(t, err)
		by := outcomes(t, in, res)
		require.Positive(t, by["delivered"])
		require.Len(t, m.api.got, by["delivered"])
		require.Equal(t, 100, by["delivered"]+by["left"])
		require.Less(t, time.Since(began), 5*time.Second, "a cancel is heard of within a second")
	})
}

func TestABatchReturnsWithinFiveMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMailing(t).process(t)
		m.budget.acquire = waitForEver
		began, in := time.Now(), news(3)
		res, err := m.send(t, in)
		require.NoError(t, err)
		require.Equal(t, map[string]int{"left": 3}, outcomes(t, in, res))
		require.Equal(t, 5*time.Minute, time.Since(began))
	})
}

func TestTwentyRefusalsInARowStopAllBatchesOfTheBroadcast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMailing(t).process(t)
		m.api.answer = func(_ context.Context, chat string, n int) error {
			time.Sleep(10 * time.Millisecond)
			if n%10 == 0 { // who cannot be reached tells nothing about the message
				return answered(403, "Forbidden: bot was blocked by the user")
			}
			return answered(400, "Bad Request: message is too long")
		}
		in := news(100)
		res, err := m.send(t, in)
		require.NoError(t, err)
		by := outcomes(t, in, res)
		require.GreaterOrEqual(t, by["rejected"], 20)
		require.Less(t, by["rejected"], 35, "those in the air")
		require.Contains(t, res.Trouble, "message is too long")
		m.api.answer = nil
		in.Recipients = res.Left
		res, err = m.send(t, in)
		require.NoError(t, err)
		require.Empty(t, res.Trouble, "who goes on starts anew")
		require.Len(t, res.Results, len(in.Recipients))
	})
}

func TestOneDeliveryEndsARowOfRefusals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMailing(t).process(t)
		m.api.answer = func(_ context.Context, _ string, n int) error {
			if n%12 == 0 {
				return nil
			}
			return answered(400, "Bad Request: wrong something")
		}
		res, err := m.send(t, news(100))
		require.NoError(t, err)
		require.Empty(t, res.Trouble)
		require.Empty(t, res.Left)
	})
}

func TestAChatThatMovedToARecipientGetsOneCopy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const there, elsewhere = -1002000000001, -1002000000002
		m := newMailing(t).process(t)
		m.server.parts = []contract.PartInput{{Recipients: []contract.Addressee{{Recipient: contract.Recipient{Chat: "-1002000000001"}}}}}
		m.api.answer = func(_ context.Context, chat string, _ int) error {
			return map[string]error{"-4001": migrated(there), "-4002": migrated(elsewhere)}[chat]
		}
		in := news(0)
		for _, chat := range []string{"-4001", "-4002", "-1002000000001"} {
			in.Recipients = append(in.Recipients, contract.Addressee{Recipient: contract.Recipient{Chat: chat}})
		}
		res, err := m.send(t, in)
		require.NoError(t, err)
		require.Equal(t, map[string]int{"delivered": 2, "superseded": 1}, outcomes(t, in, res))
		require.Equal(t, map[string]int{"-1002000000001": 1, "-1002000000002": 1}, m.api.got)
	})
}

// inDoubt is what a part hands out again after a batch whose process said nothing
// more.
func inDoubt(in contract.BatchInput, l contract.BatchLedger) contract.BatchInput {
	ended := map[string]bool{}
	for _, r := range l.Results {
		ended[r.Chat] = true
	}
	rest := in
	rest.Recipients = nil
	once := in.What.Call.Delivery == contract.AtMostOnce
	for _, a := range in.Recipients {
		for _, known := range l.Left {
			if known.Chat == a.Chat {
				a = known
			}
		}
		if slices.Contains(l.InFlight, a.Chat) {
			a.Ledger, a.DoubtOf = &contract.Ledger{InFlight: once, PossibleDuplicate: !once}, l.Batch
		}
		if !ended[a.Chat] {
			rest.Recipients = append(rest.Recipients, a)
		}
	}
	return rest
}

func TestAProcessKnowsWhatItCouldNotWriteWhileTemporalWasAway(t *testing.T) {
	t.Parallel()
	for _, delivery := range []contract.Delivery{contract.AtMostOnce, contract.AtLeastOnce} {
		t.Run(string(delivery), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := newMailing(t).process(t)
				m.api.answer = func(context.Context, string, int) error { time.Sleep(20 * time.Second); return nil }
				writes := 0
				m.server.fail = func(contract.BatchLedger) error {
					if writes++; writes > 1 {
						return serviceerror.NewNotFound("given up")
					}
					return nil
				}
				in := news(3)
				in.What.Call.Delivery = delivery
				_, err := m.send(t, in)
				require.Error(t, err)
				rest := inDoubt(in, m.server.last())
				m.server.fail = nil
				res, err := m.send(t, rest)
				require.NoError(t, err)
				require.Equal(t, map[string]int{"delivered": 3}, outcomes(t, rest, res))
				require.Len(t, m.api.asked, 3, "nobody is asked twice")
			})
		})
	}
}

// offDuty sends a batch whose marks are written, without a word, just when its
// process has lost the duty: nobody is asked.
func (m *mailing) offDuty(t *testing.T, in contract.BatchInput) (rest contract.BatchInput) {
	t.Helper()
	m.server.lost = serviceerror.NewNotFound("given up")
	m.api.answer = func(context.Context, string, int) error { return activities.ErrNotOnDuty }
	_, err := m.send(t, in)
	require.Error(t, err)
	m.server.lost, m.api.answer, m.api.asked = nil, nil, nil
	require.NotEmpty(t, m.server.last().InFlight)
	return inDoubt(in, m.server.last())
}

func TestWhoWasMarkedAndNeverGotHisTurnIsInNoDoubtInTheSameProcess(t *testing.T) {
	t.Parallel()
	for _, delivery := range []contract.Delivery{contract.AtMostOnce, contract.AtLeastOnce} {
		t.Run(string(delivery), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := newMailing(t).process(t)
				in := news(3)
				in.What.Call.Delivery = delivery
				rest := m.offDuty(t, in)
				res, err := m.send(t, rest)
				require.NoError(t, err)
				require.Equal(t, map[string]int{"delivered": 3}, outcomes(t, rest, res))
				require.Len(t, m.api.asked, 3)
				for _, r := range res.Results {
					require.False(t, r.PossibleDuplicate)
				}
			})
		})
	}
}

// What a process knows of its own batch says nothing of another's after it.
func TestADoubtThatAnotherProcessLeftStaysOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMailing(t).process(t)
		in := news(1)
		m.offDuty(t, in)
		rest := inDoubt(in, contract.BatchLedger{Batch: "run/of another process", InFlight: []string{"1"}})
		res, err := m.send(t, rest)
		require.NoError(t, err)
		require.Equal(t, map[string]int{"uncertain": 1}, outcomes(t, rest, res))
		require.Empty(t, m.api.asked)
	})
}

func TestAfterAKillOnlyThoseInTheAirAreInDoubt(t *testing.T) {
	t.Parallel()
	for delivery, want := range map[contract.Delivery]map[string]int{
		contract.AtMostOnce:  {"uncertain": 1},
		contract.AtLeastOnce: {"delivered": 1},
	} {
		t.Run(string(delivery), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := newMailing(t)
				in := news(1)
				in.What.Call.Delivery = delivery
				res, err := m.process(t).send(t, inDoubt(in, contract.BatchLedger{InFlight: []string{"1"}}))
				require.NoError(t, err)
				require.Equal(t, want, outcomes(t, in, res))
				require.Len(t, m.api.asked, want["delivered"])
				require.Equal(t, want["delivered"] == 1, res.Results[0].PossibleDuplicate)
			})
		})
	}
}

func TestABatchKeepsTheWordsOfItsCallOutOfItsResults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMailing(t).process(t)
		m.api.answer = func(context.Context, string, int) error {
			return answered(400, `Bad Request: can't parse entities: unsupported start tag "SECRET"`)
		}
		in := news(2)
		in.What.Call.Params = json.RawMessage(`{"text":"<SECRET>"}`)
		res, err := m.send(t, in)
		require.NoError(t, err)
		all, err := json.Marshal(append([]any{res}, m.server.last()))
		require.NoError(t, err)
		require.NotContains(t, strings.ToUpper(string(all)), "SECRET")
	})
}

func TestABatchTellsOfEachEndOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMailing(t).process(t)
		told := make(chan activities.Sent, 10)
		m.Ended = func(s activities.Sent) { told <- s }
		m.api.answer = func(_ context.Context, chat string, n int) error {
			if chat == "1" && n == 1 {
				return limited(time.Second)
			}
			return nil
		}
		_, err := m.send(t, news(2))
		require.NoError(t, err)
		require.Len(t, told, 2)
		require.Equal(t, contract.Bulk, (<-told).Priority)
	})
}

func TestACallThatCannotBeMadeUpEndsTheBatch(t *testing.T) {
	t.Parallel()
	m := newMailing(t).process(t)
	in := news(1)
	in.What.Template, in.What.Call.Params = true, json.RawMessage(`{"text":"{{"}`)
	_, err := m.send(t, in)
	app, ok := errors.AsType[*temporal.ApplicationError](err)
	require.True(t, ok)
	require.True(t, app.NonRetryable())
}
