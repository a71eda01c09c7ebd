package activities_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/activities"
)

func TestALeaseIsFreshForItsTimeAndNoLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := activities.NewLease()
		require.False(t, l.Fresh(time.Hour), "never renewed")
		sent := time.Now()
		time.Sleep(2 * time.Second) // until the answer
		l.Renew(sent)
		time.Sleep(10*time.Second - 1)
		require.True(t, l.Fresh(activities.SendLease))
		require.False(t, l.Fresh(activities.PollLease))
		time.Sleep(time.Nanosecond)
		require.False(t, l.Fresh(activities.SendLease), "it counts from the sending")
		l.Renew(time.Now())
		require.True(t, l.Fresh(activities.SendLease))
		l.Renew(sent)
		require.True(t, l.Fresh(activities.SendLease), "an older heartbeat changes nothing")
	})
}

func TestALeaseRunsOutWhileTheMachineSleeps(t *testing.T) {
	t.Parallel()
	l := activities.NewLease()
	l.Renew(time.Now())
	require.True(t, l.Fresh(activities.SendLease))
	l.Skew(activities.SendLease)
	require.False(t, l.Fresh(activities.SendLease))
}

func TestAWallClockThatIsSetBackLengthensNoLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := activities.NewLease()
		l.Renew(time.Now())
		l.Skew(-time.Hour)
		time.Sleep(activities.SendLease)
		require.False(t, l.Fresh(activities.SendLease))
	})
}

func TestALeaseThatHasEndedIsNotRenewed(t *testing.T) {
	t.Parallel()
	l := activities.NewLease()
	l.Renew(time.Now())
	l.End()
	l.End()
	l.Renew(time.Now().Add(time.Second))
	require.False(t, l.Fresh(time.Hour))
	require.ErrorIs(t, l.AwaitFresh(t.Context(), time.Hour), activities.ErrNotOnDuty)
}

func TestNoRequestStartsWithoutAFreshLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		api, l := &fakeAPI{}, activities.NewLease()
		guarded := l.Guard(api)
		call := func() error { _, err := guarded.Call(t.Context(), "sendMessage", nil); return err }
		require.ErrorIs(t, call(), activities.ErrNotOnDuty)
		l.Renew(time.Now())
		require.NoError(t, call())
		time.Sleep(activities.SendLease)
		require.ErrorIs(t, call(), activities.ErrNotOnDuty)
		l.Renew(time.Now())
		require.NoError(t, call())
		l.End()
		require.ErrorIs(t, call(), activities.ErrNotOnDuty)
		require.Len(t, api.sent(), 2)
	})
}

func TestARequestInTheAirOutlivesTheLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := activities.NewLease()
		l.Renew(time.Now())
		api := &fakeAPI{wait: func(ctx context.Context) error {
			time.Sleep(time.Minute)
			return ctx.Err()
		}}
		_, err := l.Guard(api).Call(t.Context(), "sendMessage", nil)
		require.NoError(t, err)
	})
}

func TestAPollWaitsForAFreshLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := activities.NewLease()
		start := time.Now()
		time.AfterFunc(3*time.Second, func() { l.Renew(start.Add(-activities.PollLease)) })
		time.AfterFunc(5*time.Second, func() { l.Renew(time.Now()) })
		require.NoError(t, l.AwaitFresh(t.Context(), activities.PollLease))
		require.Equal(t, 5*time.Second, time.Since(start), "one that is old already will not do")
		require.NoError(t, l.AwaitFresh(t.Context(), activities.PollLease))

		time.Sleep(activities.PollLease)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, l.AwaitFresh(ctx, activities.PollLease), context.DeadlineExceeded)
		time.AfterFunc(time.Second, l.End)
		require.ErrorIs(t, l.AwaitFresh(t.Context(), activities.PollLease), activities.ErrNotOnDuty)
	})
}
