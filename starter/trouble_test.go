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

// fails answers every poll with the error.
func fails(err error) func(context.Context, int, telegram.UpdatesRequest) ([]json.RawMessage, error) {
	return func(context.Context, int, telegram.UpdatesRequest) ([]json.RawMessage, error) { return nil, err }
}

// failsUntil answers with the error until the time, and then polls in vain.
func failsUntil(end time.Time, err error) func(context.Context, int, telegram.UpdatesRequest) ([]json.RawMessage, error) {
	return func(ctx context.Context, _ int, r telegram.UpdatesRequest) ([]json.RawMessage, error) {
		if time.Now().Before(end) {
			return nil, err
		}
		return emptyPoll(ctx, r)
	}
}

func gaps(all []asked) []time.Duration {
	var found []time.Duration
	for i := 1; i < len(all); i++ {
		found = append(found, all[i].at.Sub(all[i-1].at))
	}
	return found
}

func TestEachErrorHasItsOwnWait(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name        string
		err         error
		least, most time.Duration
		kind        starter.Trouble
	}{
		{"other poller", errRival, 2 * time.Second, 4 * time.Second, starter.OtherPoller},
		{"conflict of another text", refusal(409, "Conflict: terminated by other long poll or webhook"), 2 * time.Second, 4 * time.Second, starter.OtherPoller},
		{"webhook", errWebhook, time.Minute, time.Minute, starter.ForeignWebhook},
		{"webhook set just now", refusal(409, "Conflict: terminated by setWebhook request"), time.Minute, time.Minute, starter.ForeignWebhook},
		{"limited", limited(7 * time.Second), 7 * time.Second, 7500 * time.Millisecond, starter.Limited},
		{"limited for hours", limited(3 * time.Hour), 3 * time.Hour, 3*time.Hour + 500*time.Millisecond, starter.Limited},
		{"limited without a time", limited(0), time.Second, 1500 * time.Millisecond, starter.Limited},
		{"bare 404 with a good getMe", errNotFound, 750 * time.Millisecond, time.Second, starter.TelegramAway},
		{"401 with a good getMe", errUnauthorized, 750 * time.Millisecond, time.Second, starter.TelegramAway},
		{"502 with HTML", errHTML, 750 * time.Millisecond, time.Second, starter.TelegramAway},
		{"timeout", errTimeout, 750 * time.Millisecond, time.Second, starter.TelegramAway},
		{"refused connection", errRefused, 750 * time.Millisecond, time.Second, starter.TelegramAway},
		{"400", refusal(400, "Bad Request: odd"), 750 * time.Millisecond, time.Second, starter.TelegramAway},
		{"500", refusal(500, "Internal Server Error: restart"), 750 * time.Millisecond, time.Second, starter.TelegramAway},
		{"an error of no known type", errors.New("odd"), 750 * time.Millisecond, time.Second, starter.TelegramAway},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := poll(t, &source{updates: fails(row.err), webhook: noWebhook}, takesAll)
				elapse(row.most)
				first := gaps(p.of("getUpdates"))
				require.NotEmpty(t, first)
				require.GreaterOrEqual(t, first[0], row.least)
				require.LessOrEqual(t, first[0], row.most)
				require.Equal(t, []starter.Trouble{row.kind}, p.watch.told())
			})
		})
	}
}

func noWebhook() (telegram.WebhookInfo, error) { return telegram.WebhookInfo{}, nil }

func TestAMinuteOfOutageTakesFewRequestsAndItsEndIsNoticedSoon(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"HTML": errHTML, "refused": errRefused, "timeout": errTimeout, "404": errNotFound} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 20 { // the jitter differs
				synctest.Test(t, func(t *testing.T) {
					end := time.Now().Add(time.Minute)
					p := poll(t, &source{updates: failsUntil(end, err)}, takesAll)
					elapse(time.Minute - time.Nanosecond)
					all := p.of("getUpdates")
					require.LessOrEqual(t, len(all), 15)
					elapse(10*time.Second + time.Nanosecond)
					require.Greater(t, len(p.of("getUpdates")), len(all), "tried again within 10 s")
				})
			}
		})
	}
}

func TestALongOutageIsAskedAboutOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := poll(t, &source{updates: fails(errHTML)}, takesAll)
		elapse(3 * time.Hour)
		all := gaps(p.of("getUpdates"))
		for _, gap := range all {
			require.LessOrEqual(t, gap, time.Minute)
		}
		require.GreaterOrEqual(t, all[len(all)-1], 45*time.Second)
		require.Equal(t, 1, p.log.count("level=WARN"), "said once")
	})
}

func TestTheFirstSuccessResetsTheBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &source{updates: func(ctx context.Context, n int, r telegram.UpdatesRequest) ([]json.RawMessage, error) {
			if n == 8 {
				return emptyPoll(ctx, r)
			}
			return nil, errHTML
		}}
		p := poll(t, s, takesAll)
		elapse(2 * time.Minute)
		all := gaps(p.of("getUpdates"))
		require.Greater(t, all[7], 5*time.Second)
		require.LessOrEqual(t, all[9], time.Second, "the first wait after the success")
		require.Equal(t, []starter.Trouble{starter.TelegramAway, starter.Fine, starter.TelegramAway}, p.watch.told())
	})
}

func TestOneLineForEachChangeOfTrouble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		script := []error{errHTML, errTimeout, errRefused, errRival, errRival, limited(time.Second), nil}
		s := &source{updates: func(ctx context.Context, n int, r telegram.UpdatesRequest) ([]json.RawMessage, error) {
			if n < len(script) && script[n] != nil {
				return nil, script[n]
			}
			return emptyPoll(ctx, r)
		}}
		p := poll(t, s, takesAll)
		elapse(time.Hour)
		require.Equal(t, []starter.Trouble{starter.TelegramAway, starter.OtherPoller, starter.Limited, starter.Fine}, p.watch.told())
		require.Equal(t, 3, p.log.count("polling is in trouble"))
		require.Equal(t, 1, p.log.count("polling is well again"))
		for i := range 3 {
			require.NotEmpty(t, p.watch.text(i))
		}
		require.Empty(t, p.watch.text(3), "health is told that it ended")
	})
}

func TestTheRivalThatGoesAwayIsSucceededSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := poll(t, &source{updates: failsUntil(time.Now().Add(20*time.Second), errRival)}, takesAll)
		elapse(20 * time.Second)
		before := p.of("getUpdates")
		for _, gap := range gaps(before) {
			require.GreaterOrEqual(t, gap, time.Second)
		}
		elapse(5 * time.Second)
		require.Greater(t, len(p.of("getUpdates")), len(before))
	})
}

func TestAPermanentRivalIsNeitherFoughtNorForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := poll(t, &source{updates: fails(errRival)}, takesAll)
		elapse(time.Hour)
		all := gaps(p.of("getUpdates"))
		for _, gap := range all[len(all)-100:] {
			require.GreaterOrEqual(t, gap, 5*time.Second)
			require.LessOrEqual(t, gap, 10*time.Second)
		}
		require.Equal(t, []starter.Trouble{starter.OtherPoller}, p.watch.told())
		require.Contains(t, p.watch.text(0), "another process polls with this bot token")
	})
}

func TestAForeignWebhookIsNamedOnceAndLeftAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &source{updates: failsUntil(time.Now().Add(time.Hour), errWebhook), webhook: func() (telegram.WebhookInfo, error) {
			return telegram.WebhookInfo{URL: "https://hooks.example.com/secret-path"}, nil
		}}
		p := poll(t, s, takesAll)
		elapse(time.Hour - time.Second)
		require.Len(t, p.of("getWebhookInfo"), 1)
		require.Len(t, p.of("getUpdates"), 60)
		require.Equal(t, []starter.Trouble{starter.ForeignWebhook}, p.watch.told())
		require.Contains(t, p.watch.text(0), "hooks.example.com")
		require.Contains(t, p.watch.text(0), "deleteWebhook")
		require.NotContains(t, p.watch.text(0)+p.log.String(), "secret-path")
		elapse(time.Minute + 11*time.Second)
		require.Equal(t, []starter.Trouble{starter.ForeignWebhook, starter.Fine}, p.watch.told())
	})
}

func TestAWebhookOfWhichNothingIsKnownIsReportedAllTheSame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &source{updates: fails(errWebhook), webhook: func() (telegram.WebhookInfo, error) {
			return telegram.WebhookInfo{}, errors.New("away")
		}}
		p := poll(t, s, takesAll)
		elapse(time.Second)
		require.Contains(t, p.watch.text(0), "unknown host")
		require.Contains(t, p.watch.text(0), "webhook is active", "Telegram's own words")
	})
}

func TestAHostIsAllThatIsSaidOfAWebhook(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://hooks.example.com:8443/bot123:abc?x=y": "hooks.example.com:8443",
		"https://user:password@hooks.example.com/":      "hooks.example.com",
		"":                          "unknown host",
		"/path":                     "unknown host",
		"http://a b.example/secret": "unknown host",
	} {
		require.Equal(t, want, starter.WebhookHost(raw))
	}
}

func TestARefusedTokenEndsPollingUntilGetMeSucceeds(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"401": errUnauthorized, "404": errNotFound} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				t0 := time.Now()
				s := &source{updates: failsUntil(t0.Add(10*time.Minute), err), me: func() error {
					switch since := time.Since(t0); {
					case since < 5*time.Minute:
						return err
					case since < 10*time.Minute:
						return errTimeout // neither yes nor no
					}
					return nil
				}}
				p := poll(t, s, takesAll)
				elapse(10*time.Minute - time.Second)
				require.Len(t, p.of("getUpdates"), 1)
				for _, gap := range gaps(p.of("getMe"))[1:] {
					require.Equal(t, time.Minute, gap)
				}
				require.Equal(t, []starter.Trouble{starter.Refused}, p.watch.told())
				require.Contains(t, p.watch.text(0), "refuses the bot token")
				elapse(time.Minute + 11*time.Second)
				require.Equal(t, []starter.Trouble{starter.Refused, starter.Fine}, p.watch.told())
			})
		})
	}
}

func TestARefusedTokenIsNotUsedForALastConfirmation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := poll(t, &source{
			me: func() error { return errUnauthorized },
			updates: func(ctx context.Context, n int, r telegram.UpdatesRequest) ([]json.RawMessage, error) {
				if n > 0 {
					return nil, errUnauthorized
				}
				return batch(message(0, 1)), nil
			},
		}, takesAll)
		elapse(time.Second)
		p.halt()
		require.Equal(t, []int64{0, 1}, offsets(p.of("getUpdates")))
	})
}
