package activities_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

const supergroup = -1002000000001

func moving() contract.SendInput {
	in := message()
	in.Call.Params = json.RawMessage(`{"chat_id":-4002,"text":"a < b & c","big":9007199254740993,"reply_markup":{"z":1,"a":"<"}}`)
	return in
}

func TestACallFollowsItsChatOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.api.script = []error{migrated(supergroup)}
	res, err := w.attempt(t, 1, moving())
	require.NoError(t, err)
	require.Equal(t, contract.Delivered, res.Outcome)
	require.Equal(t, "-4002", res.ChatID)
	require.Equal(t, "-1002000000001", res.MovedTo)
	require.Len(t, w.api.sent(), 2)
	require.JSONEq(t,
		`{"chat_id":-1002000000001,"text":"a < b & c","big":9007199254740993,"reply_markup":{"z":1,"a":"<"}}`,
		w.api.sent()[1].params)
	require.Contains(t, w.api.sent()[1].params, "9007199254740993")
	require.Contains(t, w.api.sent()[1].params, "a < b & c", "not escaped anew")
	require.Equal(t, int64(supergroup), w.budget.wants[1].Chat, "the new chat's budget")
	require.Equal(t, int64(supergroup), w.recorder.last().MovedTo)
}

func TestAMoveTakesEverythingAlongBeforeTheNextCallIsLetGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t).knowChats()
	w.api.script = []error{migrated(supergroup)}
	w.budget.acquire = func(context.Context) error {
		if len(w.api.sent()) == 1 {
			require.Equal(t, [][2]int64{{-4002, supergroup}}, w.budget.moves)
			require.Equal(t, [][2]int64{{-4002, supergroup}}, w.chats.moves)
		}
		return nil
	}
	w.budget.settled = func() { require.NotEmpty(t, w.budget.moves) }
	_, err := w.attempt(t, 1, moving())
	require.NoError(t, err)
	require.Equal(t, 2, w.budget.done)
}

func TestAKnownMoveCostsNoRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t).knowChats()
	w.chats.knowMove(-4002, supergroup)
	res, err := w.attempt(t, 1, moving())
	require.NoError(t, err)
	require.Len(t, w.api.sent(), 1)
	require.Contains(t, w.api.sent()[0].params, "-1002000000001")
	require.Equal(t, int64(supergroup), w.budget.wants[0].Chat)
	require.Equal(t, "-4002", res.ChatID)
	require.Equal(t, "-1002000000001", res.MovedTo)
	require.Zero(t, w.recorder.writes())
}

func TestACallFollowsItsChatOutOfTheWait(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]func(w *world) error{
		"the budget says so": func(*world) error { return &activities.MovedTo{To: supergroup} },
		"it is known after the wait": func(w *world) error {
			w.chats.knowMove(-4002, supergroup)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t).knowChats()
			w.budget.acquire = func(context.Context) error {
				if len(w.budget.wants) > 1 {
					return nil
				}
				return c(w)
			}
			res, err := w.attempt(t, 1, moving())
			require.NoError(t, err)
			require.Equal(t, "-1002000000001", res.MovedTo)
			require.Len(t, w.api.sent(), 1)
			require.Contains(t, w.api.sent()[0].params, "-1002000000001")
			require.Equal(t, int64(supergroup), w.budget.wants[1].Chat)
			require.Equal(t, 1, w.budget.done)
		})
	}
}

func TestAChatThatMovesTwiceInTheWaitIsFinal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.budget.acquire = func(context.Context) error {
		return &activities.MovedTo{To: supergroup - int64(len(w.budget.wants))}
	}
	_, err := w.attempt(t, 1, moving())
	require.Equal(t, contract.FailureMoved, direct(t, err).Type())
	require.Empty(t, w.api.sent())
	require.Len(t, w.budget.wants, 2)
}

func TestMovesInACircleEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t).knowChats()
	w.chats.knowMove(-4002, supergroup)
	w.chats.knowMove(supergroup, -4002)
	_, err := w.attempt(t, 1, moving())
	require.Equal(t, contract.FailureMoved, direct(t, err).Type())
	require.Empty(t, w.api.sent())
}

func TestADeletedGroupThatIsKnownToHaveMovedIsFollowed(t *testing.T) {
	t.Parallel()
	deleted := answered(403, "Forbidden: the group chat was deleted")
	w := newWorld(t).knowChats()
	w.api.script = []error{deleted}
	w.api.wait = func(context.Context) error {
		w.chats.knowMove(-4002, supergroup) // the update that says so comes meanwhile
		return nil
	}
	res, err := w.attempt(t, 1, moving())
	require.NoError(t, err)
	require.Equal(t, "-1002000000001", res.MovedTo)
	require.Len(t, w.api.sent(), 2)
	require.Empty(t, w.chats.marks)

	w = newWorld(t).knowChats()
	w.api.script = []error{deleted}
	_, err = w.attempt(t, 1, moving())
	require.Equal(t, contract.FailureUnreachable, direct(t, err).Type())
	require.Len(t, w.api.sent(), 1)
}

func TestAMoveIsRememberedByTheNextAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.api.script = []error{migrated(supergroup), refused}
	_, err := w.attempt(t, 1, moving())
	require.Equal(t, contract.FailureUnavailable, direct(t, err).Type())
	res, err := w.attempt(t, 2, moving())
	require.NoError(t, err)
	require.Equal(t, "-1002000000001", res.MovedTo)
	require.Len(t, w.api.sent(), 3)
	require.Contains(t, w.api.sent()[2].params, "-1002000000001")
}

func TestASecondMoveIsFinal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.api.script = []error{migrated(supergroup), migrated(-1003)}
	_, err := w.attempt(t, 1, moving())
	require.Equal(t, contract.FailureMoved, direct(t, err).Type())
	require.True(t, direct(t, err).NonRetryable())
	require.Len(t, w.api.sent(), 2)
}

func TestASecondMoveIsFinalForALaterAttemptToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as(contract.Ledger{Attempt: 1, MovedTo: supergroup})
	w.api.script = []error{migrated(-1003)}
	_, err := w.attempt(t, 2, moving())
	require.Equal(t, contract.FailureMoved, direct(t, err).Type())
	require.Len(t, w.api.sent(), 1)
}

func TestAMoveThatCannotBeWrittenIsFollowedAllTheSame(t *testing.T) {
	t.Parallel()
	w := outage(t)
	w.api.script = []error{migrated(supergroup)}
	res, err := w.attempt(t, 1, moving())
	require.NoError(t, err)
	require.False(t, res.PossibleDuplicate)
}

func TestAtMostOnceFollowsAMoveWithAMarkOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.api.script = []error{migrated(supergroup)}
	in := moving()
	in.Call.Delivery = contract.AtMostOnce
	_, err := w.attempt(t, 1, in)
	require.NoError(t, err)
	marks := []bool{}
	for _, l := range w.recorder.ledgers {
		marks = append(marks, l.InFlight)
	}
	require.Equal(t, []bool{true, false, true}, marks)
}

func TestAPublicNameHasABudgetOfItsOwn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z][a-z0-9_]{4,31}`), 2, 2, rapid.ID).Draw(r, "names")
		first := activities.BudgetChat(json.RawMessage(`{"chat_id":"@` + names[0] + `"}`))
		require.Negative(t, first, "names belong to groups and channels")
		require.NotEqual(t, first, activities.BudgetChat(json.RawMessage(`{"chat_id":"@`+names[1]+`"}`)))
	})
	require.Equal(t, activities.BudgetChat(json.RawMessage(`{"chat_id":"@News"}`)), activities.BudgetChat(json.RawMessage(`{"chat_id":"@news"}`)))
	require.Zero(t, activities.BudgetChat(json.RawMessage(`{}`)))
	require.Equal(t, int64(-5), activities.BudgetChat(json.RawMessage(`{"chat_id":"-5"}`)))
}
