package stats_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/stats"
)

// perAnswer is how many requests an answer takes when nothing waits.
const perAnswer = 6

func open(s *store) *stats.Source {
	source := &stats.Source{}
	source.Open(s, "bots", bot, true)
	return source
}

func TestManyWhoAskAtATimeAreOneQuestion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := &store{err: func(string) error {
			time.Sleep(100 * time.Millisecond) // of a bubble
			return nil
		}}
		source := open(slow)
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				_, err := source.Numbers(t.Context(), time.Second)
				require.NoError(t, err)
			})
		}
		all.Wait()
		require.Equal(t, int64(perAnswer), slow.requests.Load())
	})
}

func TestAnAnswerIsGivenAgainUntilItIsTooOld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &store{}
		source := open(s)
		for i, row := range []struct {
			wait, age time.Duration
			questions int64
		}{
			{0, time.Second, 1},
			{999 * time.Millisecond, time.Second, 1},
			{time.Millisecond, time.Second, 2},
			{4999 * time.Millisecond, 5 * time.Second, 2},
			{0, time.Second, 3},
		} {
			time.Sleep(row.wait) // of a bubble
			_, err := source.Numbers(t.Context(), row.age)
			require.NoError(t, err)
			require.Equal(t, row.questions*perAnswer, s.requests.Load(), i)
		}
	})
}

func TestOneWhoLeavesSpoilsNothingForTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &stats.Source{}
		source.Open(hung{&store{}, time.Second}, "bots", bot, true)
		impatient, leave := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer leave()
		var all sync.WaitGroup
		all.Go(func() {
			_, err := source.Numbers(impatient, time.Second)
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
		time.Sleep(time.Millisecond) // of a bubble
		_, err := source.Numbers(t.Context(), time.Second)
		require.NoError(t, err)
		all.Wait()
	})
}

// hung is a Temporal that takes its time.
type hung struct {
	*store
	d time.Duration
}

func (h hung) CountWorkflow(ctx context.Context, _ *countRequest) (*countResponse, error) {
	select {
	case <-time.After(h.d): // of a bubble
		return &countResponse{}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestATemporalThatSaysNothingIsGivenUpInTwoSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &stats.Source{}
		source.Open(hung{&store{}, time.Hour}, "bots", bot, true)
		began := time.Now()
		_, err := source.Numbers(t.Context(), time.Second)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 2*time.Second, time.Since(began))
	})
}

func TestAnErrorIsNotRemembered(t *testing.T) {
	t.Parallel()
	var away bool
	source := open(&store{err: func(string) error {
		if away {
			return errors.New("away")
		}
		return nil
	}})
	away = true
	_, err := source.Numbers(t.Context(), time.Hour)
	require.ErrorContains(t, err, "ask Temporal: ")
	away = false
	_, err = source.Numbers(t.Context(), time.Hour)
	require.NoError(t, err)
}

func TestAProcessThatStartsSaysSo(t *testing.T) {
	t.Parallel()
	_, err := new(stats.Source).Numbers(t.Context(), time.Second)
	require.ErrorIs(t, err, stats.ErrStarting)
}
