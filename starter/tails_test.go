package starter_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

func never(string) bool { return false }

func TestTheNewestUpdateOfAKeyIsItsTail(t *testing.T) {
	t.Parallel()
	tails := starter.NewTails(never)
	require.Empty(t, tails.After("chat/1"))
	tails.Move("chat/1", 10, "ten", false)
	tails.Move("chat/2", 11, "eleven", false)
	tails.Move("chat/1", 12, "twelve", false)
	require.Equal(t, "twelve", tails.After("chat/1"))
	require.Equal(t, "eleven", tails.After("chat/2"))
}

func TestARedeliveredUpdateNeverMovesATailBack(t *testing.T) {
	t.Parallel()
	tails := starter.NewTails(never)
	tails.Move("chat/1", 12, "twelve", false)
	tails.Move("chat/1", 10, "ten", true)
	require.Equal(t, "twelve", tails.After("chat/1"))
	tails.Move("chat/1", 12, "twelve again", true)
	require.Equal(t, "twelve", tails.After("chat/1"))
	tails.Move("chat/1", 13, "thirteen", true)
	require.Equal(t, "thirteen", tails.After("chat/1"))
}

func TestAFreshUpdateIsTheTailWhateverItsID(t *testing.T) {
	t.Parallel()
	tails := starter.NewTails(never)
	tails.Move("chat/1", 900, "old numbering", false)
	tails.Move("chat/1", 5, "new numbering", false)
	require.Equal(t, "new numbering", tails.After("chat/1"))
}

func TestWithoutAKeyThereIsNoTail(t *testing.T) {
	t.Parallel()
	tails := starter.NewTails(never)
	tails.Move("", 1, "one", false)
	require.Empty(t, tails.After(""))
	require.Zero(t, tails.Len())
}

func TestAFinishedUpdateIsNoTail(t *testing.T) {
	t.Parallel()
	done := map[string]bool{}
	tails := starter.NewTails(func(id string) bool { return done[id] })
	tails.Move("chat/1", 1, "one", false)
	require.Equal(t, "one", tails.After("chat/1"))
	done["one"] = true
	require.Empty(t, tails.After("chat/1"))
	require.Zero(t, tails.Len(), "it is dropped")
}

func TestOfManyChatsSeenFewAreRemembered(t *testing.T) {
	t.Parallel()
	const open, remembered = 10, 4 * starter.SweepEvery
	next := 0
	tails := starter.NewTails(func(id string) bool {
		n, err := strconv.Atoi(id)
		return err == nil && n <= next-open && n > next-remembered // like a process that forgets
	})
	most := 0
	for next = range 300_000 {
		tails.Move("chat/"+strconv.Itoa(next), int64(next), strconv.Itoa(next), false)
		most = max(most, tails.Len())
	}
	require.LessOrEqual(t, most, starter.SweepEvery+open)
}

func TestASweepKeepsWhatIsOpen(t *testing.T) {
	t.Parallel()
	tails := starter.NewTails(func(id string) bool { return id != "open" })
	tails.Move("chat/open", 1, "open", false)
	for n := range int64(2 * starter.SweepEvery) {
		tails.Move("chat/"+strconv.FormatInt(n, 10), n, "done", false)
	}
	require.Equal(t, "open", tails.After("chat/open"))
	require.LessOrEqual(t, tails.Len(), starter.SweepEvery)
}

func tailOf(key string, update int64, id string) contract.Tail {
	return contract.Tail{Key: key, UpdateID: update, WorkflowID: id}
}

func TestTailsGoFromOneProcessToTheNext(t *testing.T) {
	t.Parallel()
	old := starter.NewTails(func(id string) bool { return id == "done" })
	old.Restore([]contract.Tail{})
	old.Move("chat/1", 12, "twelve", false)
	old.Move("chat/2", 13, "done", false)
	old.Move("user/7", 14, "fourteen", false)
	left := old.Snapshot(2)
	require.ElementsMatch(t, []contract.Tail{tailOf("chat/1", 12, "twelve"), tailOf("user/7", 14, "fourteen")}, left,
		"what is done is left out, and does not count")

	next := starter.NewTails(never)
	next.Restore(left)
	require.Equal(t, "twelve", next.After("chat/1"))
	require.Empty(t, next.After("chat/2"))
	require.ElementsMatch(t, left, next.Snapshot(2), "and on")
}

func TestARestoredTailNeverTakesTheTailBack(t *testing.T) {
	t.Parallel()
	tails := starter.NewTails(never)
	tails.Move("chat/1", 12, "twelve", false)
	tails.Restore([]contract.Tail{tailOf("chat/1", 11, "eleven"), tailOf("chat/2", 5, "five"), tailOf("", 6, "no key")})
	require.Equal(t, "twelve", tails.After("chat/1"))
	require.Equal(t, "five", tails.After("chat/2"))
	require.Equal(t, 2, tails.Len())
	tails.Move("chat/2", 4, "four", true)
	require.Equal(t, "five", tails.After("chat/2"), "redelivered by Telegram")
	tails.Move("chat/2", 6, "six", false)
	require.Equal(t, "six", tails.After("chat/2"))
}

func TestTailsThatAreNotKnownAreNotHandedOver(t *testing.T) {
	t.Parallel()
	tails := starter.NewTails(never)
	tails.Move("chat/1", 12, "twelve", false)
	require.Nil(t, tails.Snapshot(10), "there may be more from before")
	tails.Restore(nil)
	require.Nil(t, tails.Snapshot(10), "nothing was learnt")
	tails.Restore([]contract.Tail{})
	require.Len(t, tails.Snapshot(10), 1)
	require.Nil(t, tails.Snapshot(0), "too many")

	none := starter.NewTails(never)
	none.Restore([]contract.Tail{})
	require.NotNil(t, none.Snapshot(10), "none is not unknown")
	require.Empty(t, none.Snapshot(10))
}

func TestARebuildMakesTheTailsKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(starter.Settings{})
		pages := [][]*workflowpb.WorkflowExecutionInfo{{open(id(8), "chat/42", time.Now())}}
		var asked []listed
		b.server.list = lists(&asked, pages, pages)
		require.Nil(t, b.tails.Snapshot(10))
		require.NoError(t, b.inbox.Rebuild(t.Context()))
		require.Equal(t, []contract.Tail{tailOf("chat/42", 8, id(8))}, b.tails.Snapshot(10))
	})
}
