package telegramsim_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// The rules here are those of tdlib/telegram-bot-api WebhookActor.cpp.

func TestAWebhookGetsAnUpdateAsItIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim, r := hooked(t, telegramsim.Options{}, params{"secret_token": "s3cret"}, always(answer{after: time.Second}))
		raw := `{"update_id":5000000000,"message":{"chat":{"id":1001},"x":1.50}}`
		start := time.Now()
		id := sim.Push(json.RawMessage(raw))
		synctest.Wait()
		got := r.all()[1]
		require.Equal(t, raw, got.body)
		require.Equal(t, hookURL, got.url)
		require.Equal(t, "application/json", got.header.Get("Content-Type"))
		require.Equal(t, "s3cret", got.header.Get("X-Telegram-Bot-Api-Secret-Token"))
		require.Zero(t, got.at.Sub(start), "at once")
		require.Equal(t, 1, sim.Pending(), "until it is answered")

		open := sim.Deliveries()[1]
		require.Equal(t, telegramsim.Delivery{UpdateID: id, Attempt: 1, At: start, URL: hookURL}, open)
		time.Sleep(time.Second)
		synctest.Wait()
		require.Zero(t, sim.Pending())
		require.Equal(t, id+1, sim.Confirmed())
		answered := sim.Deliveries()[1]
		require.Equal(t, 200, answered.Status)
		require.Equal(t, start.Add(time.Second), answered.Answered)
		require.Equal(t, 409, direct(t, sim, "getUpdates", nil).Code)
	})
}

func TestAnyTwoHundredIsASuccessAndNothingElse(t *testing.T) {
	t.Parallel()
	for status, success := range map[int]bool{200: true, 201: true, 204: true, 299: true, 300: false, 302: false, 404: false, 500: false} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim, _ := hooked(t, telegramsim.Options{}, nil, always(answer{status: status}))
				sim.SendText(1001, "x")
				synctest.Wait()
				if success {
					require.Zero(t, sim.Pending())
					require.Empty(t, webhookInfo(t, sim).Error)
					return
				}
				require.Equal(t, 1, sim.Pending())
				i := webhookInfo(t, sim)
				require.Equal(t, fmt.Sprint("Wrong response from the webhook: ", status, " ", http.StatusText(status)), i.Error)
				require.Equal(t, time.Now().Unix(), i.ErrorDate)
			})
		})
	}
}

func TestAFailedUpdateIsResentAtOnceAndThenEverMoreSeldom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim, r := hooked(t, telegramsim.Options{}, nil, always(answer{status: 500}))
		start := time.Now()
		id := sim.SendText(1001, "x")
		time.Sleep(time.Hour)
		times := r.since(start, id)
		require.Equal(t, []time.Duration{0, 0, 2 * time.Second, 6 * time.Second, 14 * time.Second, 30 * time.Second}, times[:6])
		different := map[time.Duration]bool{}
		for i, at := range times[7:] {
			wait := at - times[6+i]
			require.GreaterOrEqual(t, wait, time.Minute)
			require.LessOrEqual(t, wait, 2*time.Minute)
			different[wait] = true
		}
		require.Greater(t, len(different), 10, "the longest waits are random")
		for i, d := range sim.Deliveries()[1:] {
			require.Equal(t, i+1, d.Attempt)
			require.Equal(t, 500, d.Status)
			require.False(t, d.Overlapped)
		}
	})
}

func TestBackoffCanBeShortenedForTests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim, r := hooked(t, telegramsim.Options{WebhookBackoff: 10 * time.Millisecond}, nil, always(answer{status: 500}))
		start := time.Now()
		id := sim.SendText(1001, "x")
		time.Sleep(50 * time.Millisecond)
		require.Equal(t, []time.Duration{0, 0, 10 * time.Millisecond, 30 * time.Millisecond}, r.since(start, id))
	})
}

func TestRetryAfterOfAFailureIsObeyedUpToAnHour(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{
		"7": 7 * time.Second, " 7 ": 7 * time.Second, "3600": time.Hour, "99999999999": time.Hour, "0": 0, "-5": 0, "soon": 0, "": 0,
	} {
		t.Run(header, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim, r := hooked(t, telegramsim.Options{}, nil, func(d delivered) answer {
					return map[bool]answer{true: {status: 429, retry: header}}[d.nth == 1]
				})
				start := time.Now()
				id := sim.SendText(1001, "x")
				time.Sleep(2 * time.Hour)
				require.Equal(t, []time.Duration{0, want}, r.since(start, id))
			})
		})
	}
}

func TestARetryAfterThatAsksForNothingIsNone(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"0", "-1"} {
		t.Run(header, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim, r := hooked(t, telegramsim.Options{}, nil, always(answer{status: 500, retry: header}))
				start := time.Now()
				id := sim.SendText(1001, "x")
				time.Sleep(3 * time.Second)
				require.Equal(t, []time.Duration{0, 0, 2 * time.Second}, r.since(start, id))
			})
		})
	}
}

// TestASlowReceiverGetsAnUpdateTwice: the resend is at once, so a receiver that does
// its work but answers late does it again.
func TestASlowReceiverGetsAnUpdateTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim, r := hooked(t, telegramsim.Options{}, nil, func(d delivered) answer {
			return map[bool]answer{true: {after: 61 * time.Second}}[d.nth == 1]
		})
		start := time.Now()
		id := sim.SendText(1001, "x")
		time.Sleep(59 * time.Second)
		require.Len(t, r.since(start, id), 1, "up to a minute is not late")
		time.Sleep(2 * time.Second)
		require.Equal(t, []time.Duration{0, time.Minute}, r.since(start, id))
		require.Equal(t, "Read timeout expired", webhookInfo(t, sim).Error)
		require.Zero(t, sim.Pending())
		log := sim.Deliveries()[1:]
		require.Equal(t, []int{0, 200}, []int{log[0].Status, log[1].Status})
		require.Equal(t, start.Add(time.Minute), log[0].Answered)
		require.Equal(t, []bool{false, true}, []bool{log[0].Overlapped, log[1].Overlapped}, "the first may still be at work")
	})
}

func TestAnUpdateIsDroppedWhenItsNextTryWouldBeTooLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim, r := hooked(t, telegramsim.Options{}, nil, always(answer{status: 500}))
		start := time.Now()
		inline := sim.Push(json.RawMessage(`{"inline_query":{"id":"1","from":{"id":1001}}}`))
		call := sim.Push(json.RawMessage(`{"callback_query":{"id":"2","from":{"id":1001}}}`))
		time.Sleep(29 * time.Second)
		require.Equal(t, []time.Duration{0, 0, 2 * time.Second, 6 * time.Second, 14 * time.Second}, r.since(start, inline))
		time.Sleep(10 * time.Minute)
		require.Len(t, r.since(start, inline), 5, "30 s are over by the next")
		require.Less(t, r.since(start, call)[len(r.since(start, call))-1], 150*time.Second)
		require.Zero(t, sim.Pending())
	})
}

func TestADroppedUpdateFreesItsLaneAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim, r := hooked(t, telegramsim.Options{}, nil, func(d delivered) answer {
			return map[bool]answer{true: {status: 500, retry: "31"}}[strings.Contains(d.body, "bad")]
		})
		bad := sim.Push(json.RawMessage(`{"inline_query":{"id":"bad","from":{"id":1001}}}`))
		behind := sim.Push(json.RawMessage(`{"inline_query":{"id":"2","from":{"id":1001}}}`))
		synctest.Wait()
		require.Equal(t, []int64{bad, behind}, r.ids()[1:])
		require.Zero(t, sim.Pending())
		require.False(t, sim.Redeliver(bad), "it is gone, not confirmed")
	})
}

func TestNothingIsSentThatBecameTooOldBehindAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim, r := hooked(t, telegramsim.Options{}, nil, always(answer{after: 40 * time.Second}))
		first := sim.Push(json.RawMessage(`{"inline_query":{"id":"1","from":{"id":1001}}}`))
		sim.Push(json.RawMessage(`{"inline_query":{"id":"2","from":{"id":1001}}}`))
		time.Sleep(time.Minute)
		require.Equal(t, []int64{first}, r.ids()[1:], "an inline query lives for 30 s")
		third := sim.Push(json.RawMessage(`{"inline_query":{"id":"3","from":{"id":1001}}}`))
		time.Sleep(time.Minute)
		require.Equal(t, []int64{first, third}, r.ids()[1:])
		require.Zero(t, sim.Pending())
	})
}

func TestGoneForADayRemovesTheWebhook(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]int{"nothing else": 0, "one other answer": 500} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim, _ := hooked(t, telegramsim.Options{}, nil, func(d delivered) answer {
					if d.nth == 200 && other != 0 {
						return answer{status: other}
					}
					return answer{status: 410}
				})
				id := sim.SendText(1001, "x")
				time.Sleep(22*time.Hour + 58*time.Minute)
				require.Equal(t, hookURL, webhookInfo(t, sim).URL)
				time.Sleep(10 * time.Minute)
				if other != 0 {
					require.Equal(t, hookURL, webhookInfo(t, sim).URL)
					return
				}
				require.Empty(t, webhookInfo(t, sim).URL)
				require.Equal(t, []int64{id}, updateIDs(t, direct(t, sim, "getUpdates", nil)), "the update is still there")
			})
		})
	}
}

func TestCloseCutsWhatIsOnItsWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim, r := hooked(t, telegramsim.Options{}, nil, never)
		sim.SendText(1001, "x")
		synctest.Wait()
		start := time.Now()
		require.NoError(t, sim.Close())
		require.Zero(t, time.Since(start))
		require.Equal(t, 1, sim.Pending())
		require.Len(t, r.all(), 2)
		require.Empty(t, webhookInfo(t, sim).Error, "it is no fault of the receiver")
		require.True(t, direct(t, sim, "setWebhook", params{"url": hookURL + "2"}).OK)
		sim.SendText(1001, "nobody delivers any more")
	})
}

func TestARevokedTokenStopsDeliveriesUntilThereIsANewOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim, r := hooked(t, telegramsim.Options{}, nil, nil)
		sim.Revoke()
		sim.SendText(1001, "x")
		time.Sleep(time.Minute)
		require.Len(t, r.all(), 1)
		require.NoError(t, sim.SetToken(telegramsim.DefaultToken))
		synctest.Wait()
		require.Len(t, r.all(), 2)
	})
}
