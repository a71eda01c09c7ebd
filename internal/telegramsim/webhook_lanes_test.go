package telegramsim_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/telegramsim"
)

// TestWhichUpdatesWaitForEachOther sends a first update that is not answered and
// looks whether a second one comes. Kinds are those of Client.cpp, add_update.
func TestWhichUpdatesWaitForEachOther(t *testing.T) {
	t.Parallel()
	const all = `["message","edited_message","channel_post","edited_channel_post","business_connection","business_message",` +
		`"edited_business_message","deleted_business_messages","guest_message","message_reaction","message_reaction_count",` +
		`"inline_query","chosen_inline_result","callback_query","shipping_query","pre_checkout_query","purchased_paid_media",` +
		`"poll","poll_answer","my_chat_member","chat_member","chat_join_request","chat_boost","removed_chat_boost","managed_bot",` +
		`"subscription","stopped_message_generation"]`
	for _, c := range []struct {
		first, second string
		waits         bool
	}{
		{`"message":{"chat":{"id":1}}`, `"message":{"chat":{"id":1}}`, true},
		{`"message":{"chat":{"id":1}}`, `"edited_message":{"chat":{"id":1}}`, true},
		{`"channel_post":{"chat":{"id":-1}}`, `"edited_channel_post":{"chat":{"id":-1}}`, true},
		{`"message":{"chat":{"id":1}}`, `"message":{"chat":{"id":2}}`, false},
		{`"message":{"chat":{"id":1}}`, `"callback_query":{"from":{"id":1}}`, false},
		{`"callback_query":{"from":{"id":1}}`, `"callback_query":{"from":{"id":1}}`, true},
		{`"callback_query":{"from":{"id":1},"message":{"chat":{"id":-5}}}`, `"callback_query":{"from":{"id":2},"message":{"chat":{"id":-5}}}`, false},
		{`"inline_query":{"from":{"id":1}}`, `"chosen_inline_result":{"from":{"id":1}}`, false},
		{`"shipping_query":{"from":{"id":1}}`, `"pre_checkout_query":{"from":{"id":1}}`, true},
		{`"pre_checkout_query":{"from":{"id":1}}`, `"purchased_paid_media":{"from":{"id":1}}`, false},
		{`"poll":{"id":"7"}`, `"poll_answer":{"poll_id":"7"}`, true},
		{`"my_chat_member":{"chat":{"id":1}}`, `"message":{"chat":{"id":1}}`, false},
		{`"chat_member":{"chat":{"id":-5},"new_chat_member":{"user":{"id":1}}}`, `"chat_join_request":{"chat":{"id":-6},"from":{"id":1}}`, true},
		{`"chat_member":{"chat":{"id":-5},"new_chat_member":{"user":{"id":1}}}`, `"chat_member":{"chat":{"id":-5},"new_chat_member":{"user":{"id":2}}}`, false},
		{`"chat_boost":{"chat":{"id":-5}}`, `"removed_chat_boost":{"chat":{"id":-5}}`, true},
		{`"message_reaction":{"chat":{"id":-5}}`, `"message_reaction_count":{"chat":{"id":-5}}`, false},
		{`"business_message":{"chat":{"id":1}}`, `"deleted_business_messages":{"chat":{"id":1}}`, true},
		{`"business_message":{"chat":{"id":1}}`, `"message":{"chat":{"id":1}}`, false},
		{`"business_connection":{"user":{"id":1}}`, `"business_message":{"chat":{"id":1}}`, false},
		{`"guest_message":{"chat":{"id":1}}`, `"message":{"chat":{"id":1}}`, false},
		{`"managed_bot":{"user":{"id":1}}`, `"subscription":{"user":{"id":1}}`, false},
		{`"stopped_message_generation":{"chat":{"id":1}}`, `"message":{"chat":{"id":1}}`, false},
		{`"of_the_future":{"chat":{"id":1}}`, `"of_the_future":{"chat":{"id":1}}`, false},
		{`"message":{}`, `"message":{}`, false},
		{`"message":7`, `"message":7`, false},
	} {
		t.Run(c.first+" "+c.second, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim, r := hooked(t, telegramsim.Options{}, params{"allowed_updates": all}, always(answer{after: 20 * time.Second}))
				first, second := sim.Push(json.RawMessage("{"+c.first+"}")), sim.Push(json.RawMessage("{"+c.second+"}"))
				require.Positive(t, second)
				time.Sleep(10 * time.Second)
				if !c.waits {
					require.ElementsMatch(t, []int64{first, second}, r.ids()[1:])
					return
				}
				require.Equal(t, []int64{first}, r.ids()[1:])
				time.Sleep(11 * time.Second)
				require.Equal(t, []int64{first, second}, r.ids()[1:])
			})
		})
	}
}

func TestAFailingUpdateBlocksItsLaneOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim, r := hooked(t, telegramsim.Options{}, nil, func(d delivered) answer {
			return map[bool]answer{true: {status: 500}}[strings.Contains(d.body, "refused for ever")]
		})
		bad := sim.SendText(1001, "refused for ever")
		behind := sim.SendText(1001, "behind it")
		other := sim.SendText(1002, "elsewhere")
		time.Sleep(time.Hour)
		require.NotContains(t, r.ids(), behind)
		require.Contains(t, r.ids(), other)
		require.Equal(t, 2, sim.Pending())
		require.Equal(t, bad, sim.Confirmed(), "not past what still waits")
		time.Sleep(24 * time.Hour)
		require.Zero(t, sim.Pending(), "a day ends it")
	})
}

func TestNoMoreConnectionsThanWereAskedFor(t *testing.T) {
	t.Parallel()
	for _, most := range []int{1, 3, 100} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim, r := hooked(t, telegramsim.Options{}, params{"max_connections": most}, always(answer{after: 8 * time.Second}))
				for n := range 150 {
					sim.SendText(int64(2000+n), "x")
				}
				time.Sleep(8*time.Second - 1)
				require.Len(t, r.all(), 1+most)
				time.Sleep(time.Hour)
				require.Equal(t, most, r.most())
				require.Zero(t, sim.Pending())
			})
		})
	}
}

// TestConnectionsAreOpenedTenInHalfASecond: a burst does not open all it may at once.
func TestConnectionsAreOpenedTenInHalfASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim, r := hooked(t, telegramsim.Options{}, nil, always(answer{after: 5 * time.Second}))
		for n := range 40 {
			sim.SendText(int64(2000+n), "x")
		}
		for _, want := range []int{11, 21, 31, 40} {
			time.Sleep(time.Millisecond)
			require.Len(t, r.all(), 1+want, "one is open since the first delivery")
			time.Sleep(500*time.Millisecond - time.Millisecond)
		}
	})
}

func TestManyFailingLanesStallAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim, r := hooked(t, telegramsim.Options{}, params{"max_connections": 2}, func(d delivered) answer {
			return map[bool]answer{true: {status: 500, retry: "600"}}[d.nth == 1 && strings.Contains(d.body, "fails")]
		})
		for n := range 4 {
			sim.SendText(int64(2000+n), "fails")
		}
		time.Sleep(time.Second)
		fifth := sim.SendText(3000, "would succeed")
		time.Sleep(9 * time.Minute)
		require.NotContains(t, r.ids(), fifth, "2 x 2 lanes are loaded, and none moves")
		time.Sleep(2 * time.Minute)
		require.Contains(t, r.ids(), fifth)
		require.Zero(t, sim.Pending())
	})
}

func TestAReceiverThatIsNotThereIsTriedEveryTwoSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var there atomic.Bool
		sim, r := hooked(t, telegramsim.Options{}, nil, func(delivered) answer {
			return map[bool]answer{false: {err: syscall.ECONNREFUSED}}[there.Load()]
		})
		time.Sleep(11 * time.Second)
		start := time.Now()
		for n := range 50 {
			sim.SendText(int64(2000+n), "x")
		}
		time.Sleep(20*time.Second + time.Millisecond)
		require.Equal(t, "Connection refused", webhookInfo(t, sim).Error)
		tries := r.all()[1:]
		require.Len(t, tries, 12, "one that was left, and then one every 2 s")
		require.Zero(t, tries[1].at.Sub(start))
		for i := range tries[2:] {
			require.GreaterOrEqual(t, tries[i+2].at.Sub(tries[i+1].at), 2*time.Second)
		}
		there.Store(true)
		time.Sleep(10 * time.Minute)
		require.Zero(t, sim.Pending())
	})
}

func TestASilentReceiverIsAskedOnOneConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim, r := hooked(t, telegramsim.Options{}, nil, never)
		time.Sleep(11 * time.Second)
		for n := range 50 {
			sim.SendText(int64(2000+n), "x")
		}
		time.Sleep(59 * time.Second)
		require.Len(t, r.all(), 2)
		time.Sleep(10 * time.Minute)
		require.Equal(t, 1, r.most())
	})
}

func TestAnIdleConnectionLivesForAMinute(t *testing.T) {
	t.Parallel()
	for idle, want := range map[time.Duration]int{50 * time.Second: 40, 61 * time.Second: 1} {
		t.Run(idle.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim, r := hooked(t, telegramsim.Options{}, nil, always(answer{after: 3 * time.Second}))
				crowd := func() {
					for n := range 40 {
						sim.SendText(int64(2000+n), "x")
					}
				}
				crowd()
				time.Sleep(5 * time.Second)
				require.Zero(t, sim.Pending())
				time.Sleep(idle)
				crowd()
				synctest.Wait()
				require.Len(t, r.all(), 41+want)
			})
		})
	}
}

func TestAnErrorIsWordedWithoutTheAddress(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"Connection refused": syscall.ECONNREFUSED, "Connection reset by peer": syscall.ECONNRESET, "strange": errors.New("strange"),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim, _ := hooked(t, telegramsim.Options{}, nil, always(answer{err: err}))
				sim.SendText(1001, "x")
				synctest.Wait()
				require.Equal(t, want, webhookInfo(t, sim).Error)
				require.Zero(t, sim.Deliveries()[1].Status)
			})
		})
	}
}

// TestEveryUpdateArrivesInTheOrderOfItsChat lets a receiver fail and dawdle at
// random: each update succeeds once, in the order of its chat, and never is one sent
// while another of its chat is open.
func TestEveryUpdateArrivesInTheOrderOfItsChat(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		chats := rapid.SliceOfN(rapid.Int64Range(1001, 1004), 1, 30).Draw(rt, "chats")
		statuses := rapid.SliceOfN(rapid.SampledFrom([]int{200, 200, 500, 410}), 1, 20).Draw(rt, "statuses")
		waits := rapid.SliceOfN(rapid.IntRange(0, 70), 1, 20).Draw(rt, "seconds")
		most := rapid.IntRange(1, 5).Draw(rt, "connections")
		pauses := rapid.SliceOfN(rapid.IntRange(0, 5), len(chats), len(chats)).Draw(rt, "pauses")
		synctest.Test(t, func(t *testing.T) {
			var calls atomic.Int64
			sim, _ := hooked(t, telegramsim.Options{}, params{"max_connections": most}, func(d delivered) answer {
				n := int(calls.Add(1))
				a := answer{status: statuses[n%len(statuses)], after: time.Duration(waits[n%len(waits)]) * time.Second}
				return map[bool]answer{true: {}, false: a}[d.nth > 4]
			})
			sent := map[int64]int64{}
			for i, chat := range chats {
				sent[sim.SendText(chat, strconv.Itoa(i))] = chat
				time.Sleep(time.Duration(pauses[i]) * time.Second)
			}
			time.Sleep(6 * time.Hour)
			require.Zero(rt, sim.Pending())
			require.Equal(rt, sim.Deliveries()[0].UpdateID+int64(len(chats))+1, sim.Confirmed())
			inOrder(rt, sim.Deliveries()[1:], sent)
		})
	})
}

// inOrder checks a whole log.
func inOrder(t require.TestingT, log []telegramsim.Delivery, sent map[int64]int64) {
	succeeded, ended := map[int64][]int64{}, map[int64]time.Time{}
	for _, d := range log {
		chat := sent[d.UpdateID]
		require.False(t, d.At.Before(ended[chat]), "sent while another one of the chat was open")
		ended[chat] = d.Answered
		require.NotContains(t, succeeded[chat], d.UpdateID, "sent after its success")
		if d.Status == 200 {
			succeeded[chat] = append(succeeded[chat], d.UpdateID)
		}
	}
	total := 0
	for _, ids := range succeeded {
		require.True(t, slices.IsSorted(ids))
		total += len(ids)
	}
	require.Equal(t, len(sent), total)
}
