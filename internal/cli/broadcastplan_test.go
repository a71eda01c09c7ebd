package cli_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/cli"
	"github.com/durabot/durabot/internal/contract"
)

func TestADryRunTellsAllAndStartsNothing(t *testing.T) {
	t.Parallel()
	s := newStation()
	got, c := answered[planned](t, s, "broadcast", "start", "sale", "--audience", audienceOf(t, chatsFrom(1, 2800)...), "--text", "SECRET", "--dry-run")
	require.Zero(t, c.code, c.errout)
	require.Empty(t, s.order)
	require.True(t, got.DryRun)
	require.EqualValues(t, 100, *got.ETA, "28 a second unless somebody on duty says otherwise")
	require.EqualValues(t, 3, *got.ETAIfPaid)
	require.Equal(t, 272, *got.StarsIfPaid, "97 of 100 at a tenth of a Star")
	require.Contains(t, ask(t, s, "broadcast", "start", "sale", "--audience", audienceOf(t, "1"), "--text", "SECRET", "--dry-run").out,
		"\n  takes       about 1s at 28 a second; the rate is the default: no process on duty has told its own\n")
}

func TestTheTimeIsReckonedByTheRatesOfTheProcessOnDuty(t *testing.T) {
	t.Parallel()
	s := newStation()
	s.office = onDuty(contract.Figures{Limiter: contract.LimiterFigures{GlobalPerSecond: 10, PaidPerSecond: 100}})
	started(t, s, "other", []string{"1"})
	file := audienceOf(t, chatsFrom(1, 1000)...)
	plan := func(args ...string) planned {
		got, c := answered[planned](t, s, append([]string{"broadcast", "start", "sale", "--audience", file, "--text", "SECRET", "--dry-run"}, args...)...)
		require.Zero(t, c.code, c.errout)
		return got
	}
	require.EqualValues(t, 100, *plan().ETA)
	require.EqualValues(t, 10, *plan().ETAIfPaid)
	require.EqualValues(t, 500, *plan("--rate", "2").ETA)
	require.Nil(t, plan("--rate", "2").ETAIfPaid, "it would be as slow")
	paid := plan("--paid")
	require.EqualValues(t, 10, *paid.ETA)
	require.Equal(t, 70, paid.Stars)
	require.Nil(t, paid.StarsIfPaid)
	c := ask(t, s, "broadcast", "start", "sale", "--audience", file, "--text", "SECRET", "--dry-run")
	require.Contains(t, c.out, "\n  takes       about 1m40s at 10 a second; 1 other broadcast running, too: they share the rate\n")
	require.Contains(t, c.out, "\n  with --paid about 10s at 100 a second, about 70 Stars\n")
}

func TestWhatTakesLongerThanResultsAreKeptIsRefused(t *testing.T) {
	t.Parallel()
	s := newStation()
	s.retention = time.Hour
	args := []string{"broadcast", "start", "sale", "--audience", audienceOf(t, chatsFrom(1, 100)...), "--text", "SECRET", "--yes", "--rate", "0.02"}
	c := ask(t, s, args...)
	require.Equal(t, 1, c.code)
	require.Equal(t, "durabot: it takes about 1h23m, and namespace default keeps results for 1h: "+
		"send it faster, to fewer chats at a time, or raise the namespace's retention\n", c.errout)
	require.Empty(t, s.order)
	args[len(args)-1] = "0.03"
	require.Zero(t, ask(t, s, append(args, "--in", "5h")...).code, "the time before it begins counts for nothing")
}

func TestAnEstimateIsRoundedUp(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		messages  int
		perSecond float64
		paid      bool
		takes     time.Duration
		stars     int
	}{
		"one":             {1, 28, false, time.Second, 0},
		"slowest":         {10_000_000, 0.001, false, 200 * 365 * 24 * time.Hour, 0},
		"paid":            {30_000, 1000, true, 30 * time.Second, 2910},
		"paid and slow":   {30_000, 30, true, 1000 * time.Second, 0},
		"paid, no limit":  {30_000, 0, true, 0, 3000},
		"a part of a one": {1, 1000, true, time.Second, 1},
	} {
		takes, stars := cli.Estimate(row.messages, row.perSecond, row.paid)
		require.Equal(t, row.takes, takes, name)
		require.Equal(t, row.stars, stars, name)
	}
}
