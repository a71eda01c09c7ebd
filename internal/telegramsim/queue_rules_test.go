package telegramsim_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// The rules here are those of tdlib's TQueue.cpp (get, push, clear) and of
// tdlib/telegram-bot-api Client.cpp (do_get_updates, process_get_updates_query).

// TestEachOffsetConfirmsWhatItsRuleSays polls a queue of five, whose first id is
// first, and tells what is served and what is left.
func TestEachOffsetConfirmsWhatItsRuleSays(t *testing.T) {
	t.Parallel()
	const first, next = 0, 5 // as distances from the first id
	for _, c := range []struct {
		name   string
		offset func(id int64) any
		left   []int64 // served and left, as distances from the first id
	}{
		{"absent serves all", func(int64) any { return nil }, []int64{0, 1, 2, 3, 4}},
		{"zero serves all", func(int64) any { return 0 }, []int64{0, 1, 2, 3, 4}},
		{"text that is no number is absent", func(int64) any { return "soon" }, []int64{0, 1, 2, 3, 4}},
		{"a fraction is no number", func(id int64) any { return fmt.Sprint(id+2, ".0") }, []int64{0, 1, 2, 3, 4}},
		{"the first id confirms nothing", func(id int64) any { return id + first }, []int64{0, 1, 2, 3, 4}},
		{"the second id confirms the first", func(id int64) any { return id + 1 }, []int64{1, 2, 3, 4}},
		{"the last id leaves the last", func(id int64) any { return id + 4 }, []int64{4}},
		{"the next id confirms all", func(id int64) any { return id + next }, []int64{}},
		{"ten beyond the next confirms all", func(id int64) any { return id + next + 10 }, []int64{}},
		{"eleven beyond is ignored", func(id int64) any { return id + next + 11 }, []int64{0, 1, 2, 3, 4}},
		{"a far future is ignored", func(int64) any { return int64(1) << 60 }, []int64{0, 1, 2, 3, 4}},
		{"below the head confirms nothing", func(id int64) any { return id - 1 }, []int64{0, 1, 2, 3, 4}},
		{"a hundred thousand below the head", func(id int64) any { return id - 100_000 }, []int64{0, 1, 2, 3, 4}},
		{"an offset of a life before", func(id int64) any { return id - 100_001 }, []int64{0, 1, 2, 3, 4}},
		{"minus one keeps the last", func(int64) any { return -1 }, []int64{4}},
		{"minus three keeps three", func(int64) any { return -3 }, []int64{2, 3, 4}},
		{"minus the whole queue keeps it", func(int64) any { return -5 }, []int64{0, 1, 2, 3, 4}},
		{"minus more keeps all", func(int64) any { return -99 }, []int64{0, 1, 2, 3, 4}},
		{"the least number there is", func(int64) any { return int64(-1) << 63 }, []int64{0, 1, 2, 3, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := free(t)
			id := b.SendText(1001, "0")
			for n := range 4 {
				b.SendText(1001, fmt.Sprint(n+1))
			}
			want := []int64{}
			for _, distance := range c.left {
				want = append(want, id+distance)
			}
			require.Equal(t, want, updateIDs(t, b.call("getUpdates", params{"offset": c.offset(id)})))
			require.Equal(t, len(want), b.Pending())
			require.Equal(t, want, updateIDs(t, b.call("getUpdates", nil)), "and so it stays")
			require.Equal(t, id+5, b.SendText(1001, "x"), "ids go on, whatever was confirmed")
		})
	}
}

func TestLimitIsHeldBetweenOneAndAHundred(t *testing.T) {
	t.Parallel()
	for limit, want := range map[any]int{
		nil: 100, "": 100, "x": 100, 0: 1, -1: 1, 1: 1, 2: 2, 99: 99, 100: 100, 101: 100, 1 << 40: 100, "7": 7,
	} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Parallel()
			b := free(t)
			for range 120 {
				b.SendText(1001, "x")
			}
			require.Len(t, updateIDs(t, b.call("getUpdates", params{"limit": limit})), want)
			require.Equal(t, 120, b.Pending(), "a limit confirms nothing")
		})
	}
}

func TestTimeoutIsHeldBetweenNothingAndFiftySeconds(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[any]time.Duration{
		nil: 0, "x": 0, -5: 0, 1: time.Second, 49: 49 * time.Second, 50: 50 * time.Second, 51: 50 * time.Second, 1 << 40: 50 * time.Second,
	} {
		t.Run(fmt.Sprint(timeout), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim := newSim(t, telegramsim.Options{})
				start := time.Now()
				p := params{}
				if timeout != nil {
					p["timeout"] = timeout
				}
				require.Empty(t, updateIDs(t, direct(t, sim, "getUpdates", p)))
				require.Equal(t, want, time.Since(start))
			})
		})
	}
}

// TestAHastyPollerWaitsThreeSeconds: the same offset within 3 s of the last poll
// raises a short timeout, a longer pause or another offset does not.
func TestAHastyPollerWaitsThreeSeconds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		pause   time.Duration
		offset  int
		timeout int
		want    time.Duration
	}{
		{"at once", 0, 5, 0, 3 * time.Second},
		{"at once, a longer timeout stays", 0, 5, 7, 7 * time.Second},
		{"just within three seconds", 3*time.Second - 1, 5, 0, 3 * time.Second},
		{"after three seconds", 3 * time.Second, 5, 0, 0},
		{"another offset", 0, 6, 0, 0},
		{"a short timeout is raised", time.Second, 5, 2, 3 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim := newSim(t, telegramsim.Options{})
				direct(t, sim, "getUpdates", params{"offset": 5})
				time.Sleep(c.pause)
				start := time.Now()
				direct(t, sim, "getUpdates", params{"offset": c.offset, "timeout": c.timeout})
				require.Equal(t, c.want, time.Since(start))
			})
		})
	}
}

func TestACrashLoopReadsOneUpdateAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, telegramsim.Options{})
		id := sim.SendText(1001, "1")
		sim.SendText(1001, "2")
		sim.SendText(1001, "3")
		require.Len(t, updateIDs(t, direct(t, sim, "getUpdates", nil)), 3)
		for range 3 {
			time.Sleep(499 * time.Millisecond)
			require.Equal(t, []int64{id}, updateIDs(t, direct(t, sim, "getUpdates", params{"limit": 100})))
		}
		require.Len(t, updateIDs(t, direct(t, sim, "getUpdates", params{"offset": id + 1})), 2, "another offset is no loop")
	})
}

func TestUpdatesLiveAsLongAsTheirKind(t *testing.T) {
	t.Parallel()
	for kind, life := range map[string]time.Duration{
		"inline_query": 30 * time.Second, "callback_query": 150 * time.Second, "shipping_query": 150 * time.Second,
		"pre_checkout_query": 150 * time.Second, "purchased_paid_media": 150 * time.Second, "chosen_inline_result": 600 * time.Second,
		"message": 24 * time.Hour, "edited_message": 24 * time.Hour, "poll_answer": 24 * time.Hour, "my_chat_member": 24 * time.Hour,
		"kind_of_the_future": 24 * time.Hour,
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim := newSim(t, telegramsim.Options{NoPollRules: true})
				first := sim.Confirmed()
				require.NotZero(t, sim.Push(fmt.Appendf(nil, `{%q:{"id":"1"}}`, kind)))
				time.Sleep(life - 1)
				require.Len(t, updateIDs(t, direct(t, sim, "getUpdates", nil)), 1)
				time.Sleep(time.Nanosecond)
				require.Empty(t, updateIDs(t, direct(t, sim, "getUpdates", nil)))
				require.Equal(t, first, sim.Confirmed(), "expired is not confirmed")
			})
		})
	}
}

// TestADayCountsFromTheEventNotFromItsArrival: an old message that arrives late
// has the rest of its day only, and an edit starts a new one.
func TestADayCountsFromTheEventNotFromItsArrival(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(48 * time.Hour)
		sim := newSim(t, telegramsim.Options{NoPollRules: true})
		dated := func(date, edited time.Duration) int64 {
			now := time.Now()
			return sim.Push(fmt.Appendf(nil, `{"message":{"date":%d,"edit_date":%d}}`, now.Add(-date).Unix(), now.Add(-edited).Unix()))
		}
		require.NotZero(t, dated(23*time.Hour, 23*time.Hour))
		require.NotZero(t, dated(40*time.Hour, 22*time.Hour), "the edit counts")
		require.Zero(t, dated(24*time.Hour, 25*time.Hour))
		require.NotZero(t, dated(-time.Hour, 0), "a clock ahead of ours")
		time.Sleep(time.Hour)
		require.Equal(t, 2, sim.Pending())
		time.Sleep(time.Hour)
		require.Equal(t, 1, sim.Pending())
	})
}

func TestAnExpiredUpdateInTheMiddleLeavesAGap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, telegramsim.Options{NoPollRules: true})
		first := sim.SendText(1001, "x")
		sim.Push(json.RawMessage(`{"inline_query":{"id":"1"}}`))
		last := sim.SendText(1001, "y")
		time.Sleep(30 * time.Second)
		require.Equal(t, []int64{first, last}, updateIDs(t, direct(t, sim, "getUpdates", nil)))
		require.Equal(t, first+2, last)
		require.Empty(t, updateIDs(t, direct(t, sim, "getUpdates", params{"offset": last + 1})))
	})
}

func TestAnAnswerIsCutAfterWhatFitsAndGoesOnFromThere(t *testing.T) {
	t.Parallel()
	b := free(t)
	var want []int64
	for range 20 {
		want = append(want, b.Push(json.RawMessage(`{"message":{"text":"`+strings.Repeat("x", 500<<10)+`"}}`)))
	}
	var got []int64
	for offset := int64(0); len(got) < 20; {
		ids := updateIDs(t, b.call("getUpdates", params{"offset": offset, "limit": 100}))
		require.NotEmpty(t, ids, "at least one always comes")
		require.LessOrEqual(t, len(ids), 8)
		got = append(got, ids...)
		offset = ids[len(ids)-1] + 1
	}
	require.Equal(t, want, got)
}

func TestUpdatesBeyondTheCapsAreDroppedWithoutAGap(t *testing.T) {
	t.Parallel()
	b := free(t)
	id := b.SendText(1001, "x")
	edge := []byte(`"` + strings.Repeat("x", 512<<10-2) + `"`)
	require.Equal(t, id+1, b.PushRaw(edge), "512 KiB are taken")
	require.Zero(t, b.PushRaw(append(edge, ' ')))
	require.Equal(t, id+2, b.SendText(1001, "y"), "a dropped update takes no id")
}

func TestAPushedIDMovesTheQueueOn(t *testing.T) {
	t.Parallel()
	b := free(t)
	id := b.SendText(1001, "x")
	require.Equal(t, id+50, b.Push(fmt.Appendf(nil, `{"update_id":%d,"message":{}}`, id+50)))
	require.Equal(t, id+51, b.SendText(1001, "y"), "gaps are normal")
	require.Equal(t, []int64{id, id + 50, id + 51}, updateIDs(t, b.call("getUpdates", nil)))
	require.Equal(t, []int64{id + 50, id + 51}, updateIDs(t, b.call("getUpdates", params{"offset": id + 20})))
}

// TestADuplicateIDIsServedAgain: Telegram repeats an update when its confirmation
// was lost on its side, and only a poll beyond it makes it go.
func TestADuplicateIDIsServedAgain(t *testing.T) {
	t.Parallel()
	b := free(t)
	id := b.SendText(1001, "x")
	require.Len(t, updateIDs(t, b.call("getUpdates", nil)), 1)
	require.Empty(t, updateIDs(t, b.call("getUpdates", params{"offset": id + 1})))
	again := fmt.Appendf(nil, `{"update_id":%d,"message":{"text":"x"}}`, id)
	require.Equal(t, id, b.Push(again))
	require.Equal(t, []int64{id}, updateIDs(t, b.call("getUpdates", params{"offset": id + 1})), "not yet served: the offset does not touch it")
	require.Empty(t, updateIDs(t, b.call("getUpdates", params{"offset": id + 1})))
	require.Zero(t, b.Pending())
}

func TestAWaitingPollTakesItsLimitAndLeavesTheRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, telegramsim.Options{NoPollRules: true})
		answers := poll(t, sim, params{"timeout": 50, "limit": 1})
		synctest.Wait()
		id := sim.SendText(1001, "1")
		sim.SendText(1001, "2")
		require.Equal(t, []int64{id}, updateIDs(t, <-answers), "it wakes for the first and does not gather")
		require.Equal(t, 2, sim.Pending())
	})
}

func TestAFilteredUpdateWakesNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, telegramsim.Options{})
		start := time.Now()
		answers := poll(t, sim, params{"timeout": 10, "allowed_updates": `["poll"]`})
		synctest.Wait()
		require.Zero(t, sim.SendText(1001, "x"))
		require.Empty(t, updateIDs(t, <-answers))
		require.Equal(t, 10*time.Second, time.Since(start))
	})
}

// TestAllowedUpdatesAreReadLikeTheServerReadsThem sets a list of polls and
// messages first, then the list of the row, and looks at what is let in.
func TestAllowedUpdatesAreReadLikeTheServerReadsThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, list              string
		message, poll, reaction bool
	}{
		{"absent keeps the list", "", true, true, false},
		{"empty is the default", `[]`, true, true, false},
		{"one kind", `["poll"]`, false, true, false},
		{"opt-in kinds must be named", `["message_reaction"]`, false, false, true},
		{"unknown names are ignored", `["poll","nonsense"]`, false, true, false},
		{"only unknown names are the default", `["nonsense"]`, true, true, false},
		{"case does not matter", `["Poll"]`, false, true, false},
		{"broken JSON is ignored", `["poll"`, true, true, false},
		{"text is ignored", `poll`, true, true, false},
		{"an object is ignored", `{"poll":true}`, true, true, false},
		{"numbers are ignored", `[1]`, true, true, false},
		{"null is ignored", `null`, true, true, false},
		{"one number spoils the list", `["message_reaction",1]`, true, true, false},
		{"one null spoils the list", `["message_reaction",null]`, true, true, false},
	} {
		for _, method := range []string{"getUpdates", "setWebhook"} {
			t.Run(c.name+" "+method, func(t *testing.T) {
				t.Parallel()
				b := free(t)
				b.call("getUpdates", params{"allowed_updates": `["poll","message"]`})
				require.True(t, b.call(method, params{"allowed_updates": c.list, "url": "https://example.org"}).OK)
				require.Equal(t, c.message, b.SendText(1001, "x") != 0, "message")
				require.Equal(t, c.poll, b.Push(json.RawMessage(`{"poll":{}}`)) != 0, "poll")
				require.Equal(t, c.reaction, b.Push(json.RawMessage(`{"message_reaction":{}}`)) != 0, "reaction")
				require.NotZero(t, b.Push(json.RawMessage(`{"kind_of_the_future":{}}`)), "what the list cannot name always comes")
			})
		}
	}
}

func TestALaterFilterDoesNotTouchWhatIsQueued(t *testing.T) {
	t.Parallel()
	b := free(t)
	id := b.SendText(1001, "x")
	require.Equal(t, []int64{id}, updateIDs(t, b.call("getUpdates", params{"allowed_updates": `["poll"]`})))
	require.Zero(t, b.SendText(1001, "y"))
	require.Len(t, b.Messages(1001), 2, "the user wrote all the same")
}

func TestTheBotsOwnMessagesNeverComeBack(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	b.call("getUpdates", params{"offset": b.Confirmed() + 1})
	id := b.say(1001, "mine")
	b.call("editMessageText", params{"chat_id": 1001, "message_id": id, "text": "new"})
	b.call("deleteMessage", params{"chat_id": 1001, "message_id": id})
	require.Zero(t, b.Pending())
}

func TestRestartedIDsStayInTheRangeOfANewQueue(t *testing.T) {
	t.Parallel()
	sim := newSim(t, telegramsim.Options{NoPollRules: true})
	for range 200 {
		sim.RestartIDs()
		id := sim.SendText(1001, "x")
		require.GreaterOrEqual(t, id, int64(2_000_000))
		require.Less(t, id, int64(1_000_000_000))
		require.Equal(t, id, sim.Confirmed())
	}
	old := sim.Confirmed()
	sim.RestartIDs()
	id := sim.SendText(1001, "x")
	if id > old || id < old-100_000 {
		require.Equal(t, []int64{id}, updateIDs(t, direct(t, sim, "getUpdates", params{"offset": old + 1})),
			"an offset of before does not hide what came after")
	}
}

// TestAnUpdateWithMoreThanOneFieldIsFilteredByTheKnownOne: a field that a later
// Bot API adds must not decide, nor chance.
func TestAnUpdateWithMoreThanOneFieldIsFilteredByTheKnownOne(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.call("getUpdates", params{"allowed_updates": `["poll"]`})
	for range 50 {
		require.Zero(t, b.Push(json.RawMessage(`{"zeta":1,"message":{},"alpha":2}`)))
		require.NotZero(t, b.Push(json.RawMessage(`{"zeta":1,"poll":{},"alpha":2}`)))
	}
}

// TestAWaitingPollBeyondTheTailSwallowsWhatComesFirst: the server reads with the
// same offset again when it wakes a poll, so what was confirmed in advance goes.
func TestAWaitingPollBeyondTheTailSwallowsWhatComesFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, telegramsim.Options{NoPollRules: true})
		first := sim.Confirmed()
		answers := poll(t, sim, params{"timeout": 50, "offset": first + 2})
		synctest.Wait()
		sim.SendText(1001, "0")
		sim.SendText(1001, "1")
		require.Empty(t, answers)
		require.Zero(t, sim.Pending())
		sim.SendText(1001, "2")
		require.Equal(t, []int64{first + 2}, updateIDs(t, <-answers))
	})
}
