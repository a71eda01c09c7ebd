package starter_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegram"
	"github.com/durabot/durabot/starter"
)

// brings answers the first polls with these batches at once.
func brings(batches ...[]json.RawMessage) func(context.Context, int, telegram.UpdatesRequest) ([]json.RawMessage, error) {
	return func(ctx context.Context, n int, r telegram.UpdatesRequest) ([]json.RawMessage, error) {
		if n < len(batches) {
			return batches[n], nil
		}
		return emptyPoll(ctx, r)
	}
}

func offsets(all []asked) []int64 {
	var found []int64
	for _, a := range all {
		found = append(found, a.req.Offset)
	}
	return found
}

func TestEachPollAsksForTheSame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := poll(t, &source{}, takesAll)
		elapse(25 * time.Second)
		all := p.of("getUpdates")
		require.Len(t, all, 3)
		for i, a := range all {
			require.Equal(t, telegram.UpdatesRequest{Limit: 100, Timeout: 10 * time.Second, AllowedUpdates: []string{"message"}}, a.req)
			require.Equal(t, time.Duration(i)*10*time.Second, a.at.Sub(all[0].at), "a poll follows the other at once")
		}
		require.Equal(t, 2, p.watch.polls())
		require.Empty(t, p.watch.told())
	})
}

func TestOnlyWhatIsStoredIsConfirmed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stored := []int64{6, 8, 7} // the last after ids started over
		s := &source{updates: brings(batch(message(5, 1)), batch(message(6, 1), message(7, 1)), batch(message(6, 1)))}
		p := poll(t, s, func(_ context.Context, b []json.RawMessage, offset int64) (int64, error) {
			if len(b) == 0 {
				return offset, nil
			}
			next := stored[0]
			stored = stored[1:]
			return next, nil
		})
		elapse(15 * time.Second)
		require.Equal(t, []int64{0, 6, 8, 7, 7}, offsets(p.of("getUpdates")))
	})
}

func TestAStopConfirmsWhatWasStoredSinceTheLastAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := poll(t, &source{updates: func(ctx context.Context, n int, r telegram.UpdatesRequest) ([]json.RawMessage, error) {
			if r.Timeout == 0 {
				return batch(message(9, 1)), nil // what it brings is not kept
			}
			return brings(batch(message(0, 1), message(1, 1), message(2, 1)))(ctx, n, r)
		}}, takesAll)
		elapse(time.Second)
		require.Equal(t, 100*time.Millisecond, p.halt(), "Telegram has seen the poll end")
		all := p.of("getUpdates")
		require.Equal(t, []int64{0, 3, 3}, offsets(all))
		require.Equal(t, telegram.UpdatesRequest{Offset: 3, Limit: 1, AllowedUpdates: []string{"message"}}, all[2].req)
	})
}

func TestAPollThatTelegramHasSurelyHeardConfirms(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := poll(t, &source{updates: brings(batch(message(0, 1)))}, takesAll)
		elapse(time.Second + time.Millisecond)
		require.Zero(t, p.halt())
		require.Equal(t, []int64{0, 1}, offsets(p.of("getUpdates")), "the second poll was cut off, and its offset heard")
	})
}

func TestAStopConfirmsNothingTwice(t *testing.T) {
	t.Parallel()
	for name, first := range map[string][]json.RawMessage{"nothing came": {}, "answered since": batch(message(0, 1))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := poll(t, &source{updates: brings(first)}, takesAll)
				elapse(15 * time.Second)
				before := len(p.of("getUpdates"))
				require.Zero(t, p.halt())
				require.Len(t, p.of("getUpdates"), before)
			})
		})
	}
}

func TestTheLastConfirmationTakesLessThanASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := poll(t, &source{updates: func(ctx context.Context, n int, _ telegram.UpdatesRequest) ([]json.RawMessage, error) {
			if n == 0 {
				return batch(message(0, 1)), nil
			}
			<-ctx.Done() // hangs
			return nil, ctx.Err()
		}}, takesAll)
		elapse(time.Second)
		require.InDelta(t, float64(900*time.Millisecond), float64(p.halt()), float64(50*time.Millisecond))
		require.Contains(t, p.log.String(), "last updates not confirmed")
	})
}

func TestAStopEndsAnOpenPollAndAWaitAtOnceAndIsNoTrouble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := poll(t, &source{}, takesAll)
		elapse(3 * time.Second)
		require.Zero(t, p.halt(), "an open poll")
		require.Empty(t, p.watch.told())
		require.Empty(t, p.log.String())

		p = poll(t, &source{updates: fails(limited(time.Hour))}, takesAll)
		elapse(3 * time.Second)
		require.Zero(t, p.halt(), "a wait")
	})
}

func TestAStopDuringAStoreIsNoTroubleAndNoRecovery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := poll(t, &source{updates: func(context.Context, int, telegram.UpdatesRequest) ([]json.RawMessage, error) {
			return batch(message(6001, 1)), nil
		}}, awayFor(time.Now(), 2*time.Second))
		elapse(4 * time.Second) // in trouble, and in the middle of a start that hangs
		require.Equal(t, []starter.Trouble{starter.TemporalAway}, p.watch.told())
		require.LessOrEqual(t, p.halt(), time.Second)
		require.Equal(t, []starter.Trouble{starter.TemporalAway}, p.watch.told())
		require.NotContains(t, p.log.String(), "well again")
	})
}

// awayFor is a Temporal that refuses for a while and then hangs.
func awayFor(t0 time.Time, d time.Duration) storeFunc {
	return func(ctx context.Context, _ []json.RawMessage, _ int64) (int64, error) {
		if time.Since(t0) < d {
			return 6001, errAway
		}
		<-ctx.Done()
		return 6001, ctx.Err()
	}
}

func TestWithoutTemporalNoOffsetPassesAndPollingBacksOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		t0 := time.Now()
		s := &source{updates: func(ctx context.Context, _ int, r telegram.UpdatesRequest) ([]json.RawMessage, error) {
			if r.Offset > 6001 {
				return emptyPoll(ctx, r)
			}
			return batch(message(6001, 1)), nil
		}}
		p := poll(t, s, func(_ context.Context, b []json.RawMessage, offset int64) (int64, error) {
			if time.Since(t0) < time.Minute {
				return 6001, errAway
			}
			if len(b) == 0 {
				return offset, nil
			}
			return 6002, nil
		})
		elapse(time.Minute)
		all := p.of("getUpdates")
		require.LessOrEqual(t, len(all), 15)
		for _, a := range all {
			require.LessOrEqual(t, a.req.Offset, int64(6001))
		}
		require.Equal(t, []starter.Trouble{starter.TemporalAway}, p.watch.told())
		elapse(10 * time.Second)
		require.Equal(t, []starter.Trouble{starter.TemporalAway, starter.Fine}, p.watch.told())
		require.Equal(t, int64(6002), p.of("getUpdates")[len(p.of("getUpdates"))-1].req.Offset)
	})
}

func TestPromisesToBeAliveAreKept(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"well": nil, "limited": limited(3 * time.Hour), "webhook": errWebhook, "unauthorized": errUnauthorized, "away": errHTML,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &source{updates: func(ctx context.Context, _ int, r telegram.UpdatesRequest) ([]json.RawMessage, error) {
					if err == nil {
						return emptyPoll(ctx, r)
					}
					<-time.After(20 * time.Second)
					return nil, err
				}}
				s.me = func() error { <-time.After(75 * time.Second); return errUnauthorized }
				s.webhook = func() (telegram.WebhookInfo, error) {
					<-time.After(75 * time.Second)
					return telegram.WebhookInfo{}, errors.New("away")
				}
				p := poll(t, s, takesAll)
				elapse(5 * time.Hour)
				until, broken := p.watch.promise()
				require.LessOrEqual(t, broken, time.Second)
				require.WithinRange(t, until, time.Now(), time.Now().Add(4*time.Hour))
				p.stop()
				elapse(2 * time.Minute) // what hangs here knows no context
			})
		})
	}
}

func TestAServerThatAnswersAtOnceIsNotAskedWithoutAPause(t *testing.T) {
	t.Parallel()
	same := batch(message(7, 1))
	for name, answer := range map[string][]json.RawMessage{"nothing": {}, "the same again": same} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := poll(t, &source{updates: func(context.Context, int, telegram.UpdatesRequest) ([]json.RawMessage, error) {
					return answer, nil
				}}, func(_ context.Context, b []json.RawMessage, offset int64) (int64, error) {
					if len(b) == 0 {
						return offset, nil
					}
					return 8, nil
				})
				elapse(10*time.Second + time.Millisecond)
				require.LessOrEqual(t, len(p.of("getUpdates")), 42, "four a second")
				require.Zero(t, p.halt())
			})
		})
	}
}
