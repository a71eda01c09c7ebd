package starter_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

func TestAPostedUpdateIsStoredAsAPolledOneIs(t *testing.T) {
	t.Parallel()
	posted, polled := setup(starter.Settings{}), setup(starter.Settings{})
	for _, raw := range []json.RawMessage{message(1, 42), message(2, 42), message(3, 0)} {
		require.NoError(t, posted.inbox.Take(t.Context(), raw))
		_, err := polled.inbox.Store(t.Context(), batch(raw), 0)
		require.NoError(t, err)
	}
	for update := range int64(3) {
		got, want := posted.server.get(t, update+1), polled.server.get(t, update+1)
		got.in.ReceivedAt, want.in.ReceivedAt = time.Time{}, time.Time{}
		got.at, want.at = time.Time{}, time.Time{}
		require.Equal(t, want, got)
	}
	require.Equal(t, id(1), posted.server.get(t, 2).in.After)
}

func TestAnUpdateThatIsPostedAgainIsTaken(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{})
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if err := b.inbox.Take(t.Context(), message(1, 42)); err != nil {
				panic(err)
			}
		})
	}
	all.Wait()
	require.Equal(t, []string{id(1)}, b.server.ids())
	require.Equal(t, 4, b.counts.duplicate)
}

func TestWhateverWaitsPostsOfAChatAreStoredInTheOrderOfTheirArrival(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		chats := rapid.SliceOfN(rapid.Int64Range(0, 3), 1, 25).Draw(r, "chats")
		broken := rapid.SliceOfN(rapid.IntRange(0, 7), len(chats), len(chats)).Draw(r, "broken")
		waits := rapid.SliceOfN(rapid.IntRange(0, 5), len(chats), len(chats)).Draw(r, "waits")
		gaps := rapid.SliceOfN(rapid.IntRange(0, 3), len(chats), len(chats)).Draw(r, "gaps")
		synctest.Test(t, func(t *testing.T) { requireArrivalOrder(t, chats, broken, waits, gaps) })
	})
}

// requireArrivalOrder posts an update to each of the chats, one after the other
// and without waiting for the one before. Update n takes waits[n] to start, fails
// when broken[n] is 0, and comes gaps[n] before the next; all in seconds of a
// bubble.
func requireArrivalOrder(t *testing.T, chats []int64, broken, waits, gaps []int) {
	t.Helper()
	b := setup(starter.Settings{})
	b.server.before = func(workflow string) error {
		n, _ := contract.UpdateOf(workflow)
		time.Sleep(time.Duration(waits[n]) * time.Second)
		if broken[n] == 0 {
			return errAway
		}
		return nil
	}
	failed := make([]bool, len(chats))
	var all sync.WaitGroup
	for n, chat := range chats {
		all.Go(func() { failed[n] = b.inbox.Take(t.Context(), message(int64(n), chat)) != nil })
		time.Sleep(time.Duration(gaps[n]) * time.Second)
		synctest.Wait()
	}
	all.Wait()
	last := map[int64]int{}
	for _, workflow := range b.server.ids() {
		n, _ := contract.UpdateOf(workflow)
		require.False(t, failed[n])
		chat := chats[n]
		if before, ok := last[chat]; ok && chat != 0 {
			require.Greater(t, int(n), before, "chat %d", chat)
			require.Equal(t, id(int64(before)), b.server.get(t, n).in.After)
		}
		last[chat] = int(n)
	}
	for n := range chats {
		require.True(t, failed[n] || len(b.server.get(t, int64(n)).raw) > 0)
		require.True(t, broken[n] != 0 || failed[n])
	}
}

func TestBehindAPostThatFailsThoseThatWaitFailAndLaterOnesDoNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(starter.Settings{})
		b.server.before = func(workflow string) error {
			time.Sleep(time.Second) // of a bubble
			if workflow == id(1) {
				return errAway
			}
			return nil
		}
		errs := make([]error, 4)
		var all sync.WaitGroup
		for n := range 3 {
			all.Go(func() { errs[n] = b.inbox.Take(t.Context(), message(int64(n+1), 42)) })
			synctest.Wait()
		}
		all.Go(func() { errs[3] = b.inbox.Take(t.Context(), message(9, 43)) })
		all.Wait()
		require.ErrorIs(t, errs[0], errAway)
		require.ErrorContains(t, errs[1], "the update before it in its chat could not be stored")
		require.ErrorContains(t, errs[2], "the update before it in its chat could not be stored")
		require.NoError(t, errs[3], "another chat has nothing to do with it")
		require.NoError(t, b.inbox.Take(t.Context(), message(2, 42)))
		require.Equal(t, []string{id(9), id(2)}, b.server.ids())
	})
}

func TestSixteenPostsAreStoredAtATimeAndTheOthersWaitBriefly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(starter.Settings{})
		takes := 400 * time.Millisecond
		b.server.before = func(string) error {
			time.Sleep(takes) // of a bubble
			return nil
		}
		errs := make([]error, 40)
		var all sync.WaitGroup
		for n := range 40 {
			all.Go(func() { errs[n] = b.inbox.Take(t.Context(), message(int64(n), int64(n+1))) })
			synctest.Wait()
		}
		all.Wait()
		for n, err := range errs {
			if n < 32 {
				require.NoError(t, err, "post %d", n)
			} else {
				require.ErrorIs(t, err, starter.ErrBusy, "post %d", n)
			}
		}
		require.NoError(t, b.inbox.Take(t.Context(), message(39, 40)), "the places are free again")

		takes = time.Hour
		for n := range int64(16) {
			all.Go(func() { _ = b.inbox.Take(t.Context(), message(100+n, 100+n)) })
		}
		synctest.Wait()
		began := time.Now()
		behind := make(chan error, 1)
		all.Go(func() { behind <- b.inbox.Take(t.Context(), message(200, 200)) })
		synctest.Wait()
		require.ErrorIs(t, b.inbox.Take(t.Context(), message(201, 200)), starter.ErrBusy, "as is who waits behind one that was told so")
		require.ErrorIs(t, <-behind, starter.ErrBusy)
		require.Less(t, time.Since(began), time.Second)
		all.Wait()
	})
}

func TestABodyThatIsNoUpdateIsKeptOnceAsADeadLetter(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"no JSON": "SECRET <html>", "no update_id": `{"message":{"text":"SECRET"}}`, "not UTF-8": "\xff\xfeSECRET", "empty": "",
		"a list": `[{"update_id":1}]`, "two": `{"update_id":1}{"update_id":2}`, "bad text in JSON": "{\"SECRET\":\"\xff\"}", "null": "null",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(starter.Settings{Attributes: true, Handling: contract.Handling{Attempts: 3}})
			require.NoError(t, b.inbox.Take(t.Context(), []byte(body)))
			require.NoError(t, b.inbox.Take(t.Context(), []byte(body)), "it comes again")
			sum := sha256.Sum256([]byte(body))
			key := "post-" + hex.EncodeToString(sum[:])
			require.Equal(t, []string{"dead/77/update/" + key}, b.server.ids())
			require.Equal(t, 1, b.counts.undecodable)
			require.Equal(t, 1, b.counts.duplicate)
			w := b.server.byID["dead/77/update/"+key]
			requireLetter(t, w, key)
			require.True(t, json.Valid([]byte(w.raw)) && utf8.ValidString(w.raw), "%q", w.raw)
			shown, err := json.Marshal(w.opts.Memo)
			require.NoError(t, err)
			require.NotContains(t, w.opts.ID+w.opts.StaticSummary+string(shown)+w.dead.Error+b.log.String(), "SECRET")
		})
	}
}

func requireLetter(t *testing.T, w started, key string) {
	t.Helper()
	require.Equal(t, contract.DeadLetterWorkflow, w.kind)
	require.Equal(t, enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE, w.opts.WorkflowIDReusePolicy)
	require.Equal(t, "durabot-77", w.opts.TaskQueue)
	require.Equal(t, temporal.NewSearchAttributes(
		temporal.NewSearchAttributeKeyKeyword(contract.AttributeKind).ValueSet(""),
		temporal.NewSearchAttributeKeyKeyword(contract.AttributeOutcome).ValueSet("undecodable"),
	), w.opts.TypedSearchAttributes)
	in := w.dead
	require.Equal(t, contract.DeadInput{
		BotID: bot, Kind: contract.DeadUpdate, Key: key, Reason: contract.ReasonUndecodable, Error: in.Error, AcceptedAt: in.At, At: in.At,
		Update: &contract.UpdateInput{
			BotID: bot, ReceivedAt: in.At, Dead: contract.ReasonUndecodable, Handling: contract.Handling{Attempts: 3}, Attributes: true, Counted: true,
		},
		Attributes: true,
	}, in)
	require.Regexp(t, `^a post of \d+ bytes that has no update_id$`, in.Error)
	require.Equal(t, contract.DeadState{
		State: contract.DeadOpen, Kind: in.Kind, Key: key, Reason: in.Reason, Error: in.Error, AcceptedAt: in.At, At: in.At,
	}, w.opts.Memo[contract.MemoState])
}

func TestOfABodyThatIsNoJSONItsSizeItsHashAndItsBeginAreKept(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{})
	body := append([]byte("\xff"), strings.Repeat("x", 100<<10)...)
	require.NoError(t, b.inbox.Take(t.Context(), body))
	var kept struct {
		Bytes  int
		SHA256 string
		Begin  []byte
	}
	require.NoError(t, json.Unmarshal([]byte(b.server.byID[b.server.ids()[0]].raw), &kept))
	sum := sha256.Sum256(body)
	require.Equal(t, len(body), kept.Bytes)
	require.Equal(t, hex.EncodeToString(sum[:]), kept.SHA256)
	require.Equal(t, body[:64<<10], kept.Begin)
}

func TestADeadLetterThatCannotBeLeftIsAFailure(t *testing.T) {
	t.Parallel()
	b := setup(starter.Settings{})
	b.server.before = func(string) error { return errAway }
	require.ErrorIs(t, b.inbox.Take(t.Context(), []byte("?")), errAway)
	require.Zero(t, b.counts.undecodable)
	b.server.before = nil
	require.NoError(t, b.inbox.Take(t.Context(), []byte("?")))
}

// FuzzTake posts any body: it is stored as an update or kept as a dead letter, and
// what is stored fits a payload of JSON.
func FuzzTake(f *testing.F) {
	for _, seed := range []string{
		"", "null", "{}", `{"update_id":1}`, `{"update_id":1,"message":{"chat":{"id":2}}}`, `{"update_id":-1}`, "\xff", `{"update_id":1}x`,
		`{"update_id":2,"message":"?"}`, `{"update_id":1e0}`, `[[[[`, `{"a":"` + "\xff" + `"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		b := setup(starter.Settings{})
		require.NoError(t, b.inbox.Take(t.Context(), body))
		require.NoError(t, b.inbox.Take(t.Context(), body))
		require.Len(t, b.server.ids(), 1)
		w := b.server.byID[b.server.ids()[0]]
		require.True(t, json.Valid([]byte(w.raw)), "%q", w.raw)
		require.Equal(t, 1, b.counts.duplicate)
	})
}
