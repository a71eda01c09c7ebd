package broadcast_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/durabot/durabot/internal/broadcast"
	"github.com/durabot/durabot/internal/contract"
)

func TestAnOrderReachesTheBroadcastAndNoPart(t *testing.T) {
	t.Parallel()
	s := started(1)
	order := contract.BroadcastOrder{What: contract.BroadcastCancel, By: "ann@desk", Reason: "so", At: began}
	require.NoError(t, broadcast.Order(t.Context(), s, bot, name, order))
	require.Equal(t, []contract.BroadcastOrder{order}, s.runs[contract.BroadcastID(bot, name)].orders)
	require.Empty(t, s.at(1).orders)
}

func TestAnOrderThatCannotBeFollowedIsAnError(t *testing.T) {
	t.Parallel()
	s := newServer()
	pause, cancel := contract.BroadcastOrder{What: contract.BroadcastPause}, contract.BroadcastOrder{What: contract.BroadcastCancel}
	require.ErrorIs(t, broadcast.Order(t.Context(), s, bot, name, cancel), broadcast.ErrNone)
	s.part(1, 2)
	require.ErrorIs(t, broadcast.Order(t.Context(), s, bot, name, pause), broadcast.ErrHalfStarted)
	require.Empty(t, s.at(1).orders)
	s.broadcast(contract.BroadcastState{}).status = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	require.ErrorIs(t, broadcast.Order(t.Context(), s, bot, name, pause), broadcast.ErrEnded)
	s.err = errors.New("away")
	require.ErrorIs(t, broadcast.Order(t.Context(), s, bot, name, pause), s.err)
}

func TestACancelOfWhatIsHalfStartedEndsItsParts(t *testing.T) {
	t.Parallel()
	s := newServer()
	for n := range 250 {
		if n%17 != 3 {
			s.part(n+1, 1)
		}
	}
	s.at(2).status = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	require.NoError(t, broadcast.Order(t.Context(), s, bot, name, contract.BroadcastOrder{What: contract.BroadcastCancel}))
	for id, r := range s.runs {
		require.Equal(t, r != s.at(2), len(r.orders) == 1, id)
	}
}
