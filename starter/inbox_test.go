package starter_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

var errAway = serviceerror.NewUnavailable("Temporal is away")

func TestAnEmptyBatchKeepsTheOffset(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{})
	next, err := b.inbox.Store(t.Context(), nil, 6001)
	require.NoError(t, err)
	require.Equal(t, int64(6001), next)
}

func TestAStoredBatchIsPassed(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{})
	next, err := b.inbox.Store(t.Context(), batch(message(5001, 1), message(5002, 2), message(5007, 1)), 0)
	require.NoError(t, err)
	require.Equal(t, int64(5008), next)
	require.ElementsMatch(t, []string{id(5001), id(5002), id(5007)}, b.server.ids())
	require.Equal(t, []string{"message", "message", "message"}, b.counts.stored)
}

func TestOffsetNeverPassesAnUnstoredUpdate(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{})
	b.server.before = func(workflow string) error {
		if workflow == id(6050) {
			return errAway
		}
		return nil
	}
	var all []json.RawMessage
	for n := int64(6001); n <= 6100; n++ {
		all = append(all, message(n, n%7+1))
	}
	next, err := b.inbox.Store(t.Context(), all, 6001)
	require.ErrorIs(t, err, errAway)
	require.ErrorContains(t, err, "start "+id(6050))
	require.Equal(t, int64(6050), next)

	b.server.before = nil
	next, err = b.inbox.Store(t.Context(), all[49:], next)
	require.NoError(t, err)
	require.Equal(t, int64(6101), next)
	require.Len(t, b.server.ids(), 100, "each is started once")
	require.NotZero(t, b.counts.duplicate)
}

func TestTheRowBehindAnUnstoredUpdateIsNotPassed(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{})
	b.server.before = func(string) error { return errAway }
	next, err := b.inbox.Store(t.Context(), batch(message(900, 1), message(5, 1)), 0)
	require.ErrorIs(t, err, errAway)
	require.Equal(t, int64(5), next, "5 was never tried")
}

func TestUpdatesOfOneChatStartInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(starter.Settings{})
		b.server.before = func(string) error { <-time.After(10 * time.Millisecond); return nil }
		begun := time.Now()
		_, err := b.inbox.Store(t.Context(), batch(message(1, 9), message(2, 9), message(3, 9), message(4, 9)), 0)
		require.NoError(t, err)
		require.Equal(t, []string{id(1), id(2), id(3), id(4)}, b.server.ids())
		require.Equal(t, 40*time.Millisecond, time.Since(begun), "one after the other")
	})
}

func TestUpdatesOfDifferentChatsStartInParallelUpToABound(t *testing.T) {
	t.Parallel()
	for _, chat := range []int64{1, 0} { // chats of their own, and no chat at all
		t.Run(strconv.FormatInt(chat, 10), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(starter.Settings{})
				var running, most atomic.Int64
				b.server.before = func(string) error {
					if n := running.Add(1); n > most.Load() {
						most.Store(n)
					}
					<-time.After(time.Second)
					running.Add(-1)
					return nil
				}
				var all []json.RawMessage
				for n := range int64(64) {
					all = append(all, message(n+1, chat*(n+1)))
				}
				begun := time.Now()
				_, err := b.inbox.Store(t.Context(), all, 0)
				require.NoError(t, err)
				require.Equal(t, int64(16), most.Load())
				require.Equal(t, 4*time.Second, time.Since(begun))
			})
		})
	}
}

func TestAlreadyStartedCountsAsStored(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{})
	for range 100 {
		next, err := b.inbox.Store(t.Context(), batch(message(5001, 1), message(5002, 1), message(5003, 2)), 0)
		require.NoError(t, err)
		require.Equal(t, int64(5004), next)
	}
	require.Len(t, b.server.ids(), 3)
	require.Equal(t, 297, b.counts.duplicate)
	require.Len(t, b.counts.stored, 3)
	require.NotContains(t, b.log.String(), "WARN")
}

func TestALostAnswerIsNotAnUpdateTwice(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{})
	b.server.after = func(string) error { return errAway }
	next, err := b.inbox.Store(t.Context(), batch(message(5001, 1)), 0)
	require.Error(t, err)
	require.Equal(t, int64(5001), next)
	b.server.after = nil
	next, err = b.inbox.Store(t.Context(), batch(message(5001, 1), message(5002, 1)), next)
	require.NoError(t, err)
	require.Equal(t, int64(5003), next)
	require.Equal(t, []string{id(5001), id(5002)}, b.server.ids())
	require.Equal(t, id(5001), b.server.get(t, 5002).in.After)
}

func TestLowerIDsAfterAResetAreAdopted(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{})
	next, err := b.inbox.Store(t.Context(), batch(message(70, 1), message(71, 1)), 900_000_001)
	require.NoError(t, err)
	require.Equal(t, int64(72), next)
}

func TestGarbageIsPassedOverAndHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{})
	next, err := b.inbox.Store(t.Context(), batch(json.RawMessage(`"secret"`), message(5, 1), json.RawMessage(`{"update_id":null}`)), 5)
	require.NoError(t, err)
	require.Equal(t, int64(6), next)
	require.Equal(t, []string{id(5)}, b.server.ids())
	require.Equal(t, 2, b.counts.undecodable)
	require.Equal(t, 2, b.log.count("has no update_id"))
	require.NotContains(t, b.log.String(), "secret")
}

func TestABatchOfGarbageOnlyKeepsTheOffsetAndIsAnError(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{})
	next, err := b.inbox.Store(t.Context(), batch(json.RawMessage(`{}`), json.RawMessage(`{"update_id":-3}`)), 77)
	require.ErrorContains(t, err, "update_id")
	require.Equal(t, int64(77), next)
	require.Empty(t, b.server.ids())
}

func TestAfterIsTheNewestOpenUpdateOfTheChat(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{})
	store := func(raw ...json.RawMessage) {
		_, err := b.inbox.Store(t.Context(), raw, 0)
		require.NoError(t, err)
	}
	store(message(1, 10), message(2, 20), message(3, 10), message(4, 0), message(5, 0))
	store(message(6, 20))
	require.Empty(t, b.server.get(t, 1).in.After)
	require.Empty(t, b.server.get(t, 2).in.After)
	require.Equal(t, id(1), b.server.get(t, 3).in.After)
	require.Empty(t, b.server.get(t, 4).in.After)
	require.Empty(t, b.server.get(t, 5).in.After, "updates of no chat wait for nobody")
	require.Equal(t, id(2), b.server.get(t, 6).in.After)

	store(message(1, 10)) // again
	store(message(7, 10))
	require.Equal(t, id(3), b.server.get(t, 7).in.After, "a redelivered update takes no newer one's place")

	b.done.Store(id(7), true)
	store(message(8, 10))
	require.Empty(t, b.server.get(t, 8).in.After, "what is done is waited for by nobody")
}

func TestAnUpdateNeverWaitsForItself(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{})
	b.tails.Move("chat/10", 1, id(1), false) // as found by a rebuild, while the server has lost it
	_, err := b.inbox.Store(t.Context(), batch(message(1, 10)), 0)
	require.NoError(t, err)
	require.Empty(t, b.server.get(t, 1).in.After)
}

func TestAnUndecodableUpdateIsKeptAsADeadInput(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{})
	raw := `{"update_id":5, "message":["secret"]}`
	next, err := b.inbox.Store(t.Context(), batch(json.RawMessage(raw), message(6, 1)), 5)
	require.NoError(t, err)
	require.Equal(t, int64(7), next)
	dead := b.server.get(t, 5)
	require.Equal(t, contract.ReasonUndecodable, dead.in.Dead)
	require.Equal(t, "message", dead.in.Kind)
	require.Equal(t, raw, dead.raw, "nothing of it is lost")
	require.Empty(t, b.server.get(t, 6).in.Dead)
	require.Equal(t, 1, b.counts.undecodable)
	require.Equal(t, 1, b.log.count("update_id=5"))
	require.NotContains(t, b.log.String(), "secret")
}

func TestAnUpdateTooLargeForAPayloadIsKeptAsADeadInput(t *testing.T) {
	t.Parallel()
	const most = 3 << 19
	update := func(id int64, size int) json.RawMessage {
		head := fmt.Sprintf(`{"update_id":%d,"message":{"chat":{"id":4},"text":"`, id)
		return json.RawMessage(head + strings.Repeat("x", size-len(head)-3) + `"}}`)
	}
	b := setup(starter.Settings{})
	next, err := b.inbox.Store(t.Context(), batch(update(5, most), update(6, most+1)), 5)
	require.NoError(t, err)
	require.Equal(t, int64(7), next)
	require.Len(t, b.server.get(t, 5).raw, most)
	require.Empty(t, b.server.get(t, 5).in.Dead)
	dead := b.server.get(t, 6)
	require.Equal(t, contract.ReasonTooLarge, dead.in.Dead)
	require.Equal(t, int64(4), dead.in.ChatID)
	require.Equal(t, id(5), dead.in.After, "it has its turn like any other")
	require.JSONEq(t, fmt.Sprintf(`{"update_id":6,"bytes":%d}`, most+1), dead.raw)
	require.Contains(t, b.log.String(), "too large")
	require.Less(t, len(b.log.String()), 1000, "it is not logged")
}

func TestAnErrorOfAStartSaysWhichUpdate(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{})
	boom := errors.New("boom")
	b.server.before = func(string) error { return boom }
	_, err := b.inbox.Store(t.Context(), batch(message(5, 1)), 5)
	require.ErrorIs(t, err, boom)
	require.ErrorContains(t, err, "start update/77/5: ")
}
