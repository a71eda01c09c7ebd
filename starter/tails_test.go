package starter_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

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
