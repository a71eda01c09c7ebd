package devserver

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
)

func TestNewNamespaceGetsRetentionAndAttributes(t *testing.T) {
	t.Parallel()
	f := &frontend{retention: 24 * time.Hour, attributes: map[string]enums.IndexedValueType{}}
	require.NoError(t, runningOn(t, f).awaitUsable(t.Context()))
	require.Equal(t, DefaultRetention, f.retention)
	require.Equal(t, map[string]enums.IndexedValueType{
		"TgChat":    enums.INDEXED_VALUE_TYPE_KEYWORD,
		"TgKind":    enums.INDEXED_VALUE_TYPE_KEYWORD,
		"TgOutcome": enums.INDEXED_VALUE_TYPE_KEYWORD,
	}, f.attributes)
	require.Equal(t, []string{"", `TgChat = "probe"`, `TgKind = "probe"`, `TgOutcome = "probe"`}, f.queries,
		"usable is what was tried")
}

func TestLongerRetentionIsNotShortened(t *testing.T) {
	t.Parallel()
	f := &frontend{retention: 30 * 24 * time.Hour, attributes: map[string]enums.IndexedValueType{}}
	require.NoError(t, runningOn(t, f).awaitUsable(t.Context()))
	require.Zero(t, f.updates)
}

func TestOnlyMissingAttributesAreRegistered(t *testing.T) {
	t.Parallel()
	f := &frontend{attributes: map[string]enums.IndexedValueType{
		"TgChat": enums.INDEXED_VALUE_TYPE_KEYWORD,
		"Other":  enums.INDEXED_VALUE_TYPE_INT,
	}}
	require.NoError(t, runningOn(t, f).awaitUsable(t.Context()))
	require.Len(t, f.attributes, 4)
	require.Equal(t, enums.INDEXED_VALUE_TYPE_INT, f.attributes["Other"])
}

func TestNamespaceThatComesLaterIsAwaited(t *testing.T) {
	t.Parallel()
	f := &frontend{unready: 3, attributes: map[string]enums.IndexedValueType{}}
	require.NoError(t, runningOn(t, f).awaitUsable(t.Context()))
	require.Zero(t, f.unready)
	require.Equal(t, DefaultRetention, f.retention)
}

func TestNamespaceThatNeverComesIsNamedWithItsStep(t *testing.T) {
	t.Parallel()
	f := &frontend{unready: 1 << 30}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	err := runningOn(t, f).awaitUsable(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "raise retention: ")
}

func TestServerThatExitsEndsTheWaitAtOnce(t *testing.T) {
	t.Parallel()
	s := runningOn(t, &frontend{unready: 1 << 30})
	failed := make(chan error, 1)
	go func() { failed <- s.awaitUsable(t.Context()) }()
	require.NoError(t, s.child.cmd.Process.Kill())
	err := <-failed
	require.ErrorIs(t, err, ErrExited)
	require.ErrorContains(t, err, "signal: killed")
}

func TestUntilAsksAgainUntilTheAnswerIsGood(t *testing.T) {
	t.Parallel()
	asked := 0
	require.NoError(t, until(t.Context(), "step", func(ctx context.Context) error {
		deadline, ok := ctx.Deadline()
		require.True(t, ok, "one question cannot hang")
		require.LessOrEqual(t, time.Until(deadline), probeTimeout)
		if asked++; asked < 3 {
			return errors.New("not yet")
		}
		return nil
	}))
	require.Equal(t, 3, asked)
}

func TestUntilTellsBothWhyItStoppedAndWhatWasWrong(t *testing.T) {
	t.Parallel()
	wrong := errors.New("wrong")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	err := until(ctx, "step", func(context.Context) error { return wrong })
	require.ErrorIs(t, err, wrong)
	require.EqualError(t, err, "step: enough: wrong")
}
