package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMain also serves the simulators: they run the binary that measures.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == simCommand {
		if err := simulate(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "simulator:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestTheBenchMeasuresEveryFigure(t *testing.T) {
	t.Parallel()
	// What hangs is to be named, which the end of all tests would not do.
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	t.Cleanup(cancel)
	l, err := newLab(ctx, plan{
		Runs: 1, Processes: 1, Latency: time.Millisecond, Steady: time.Second, Burst: 30, Soak: 30, Bulk: 60, Waiting: 100,
		Replies: 2 * time.Second, Penalty: 3 * time.Second, Held: 2, Storm: time.Second,
		Messages: 5, Lines: 100, Audience: 500, Crowd: 200, Posts: 50, Leaves: 1, Metered: 20, Idle: 7 * time.Second,
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		l.close()
		require.NoError(t, os.RemoveAll(l.dir))
	})
	figures := map[string]int{
		"steady": 4, "burst": 4, "memory": 2, "outbox": 2, "file": 4, "limit": 2, "standby": 2, "handover": 7, "penalty": 4, "priority": 3, "group": 4,
		"broadcast": 6, "actions": 7, "flood": 5, "webhook": 4,
	}
	for _, m := range measurements {
		t.Run(m.name, func(t *testing.T) {
			if m.name != "broadcast" { // which restarts the Temporal that the others share
				t.Parallel()
			}
			all, err := l.measure(ctx, []measurement{m})
			require.NoError(t, err)
			require.Len(t, all, figures[m.name])
			for _, f := range all {
				require.Len(t, f.All, 1, f.Name)
				if f.Goal == "0" {
					require.Zero(t, f.Value, f.Name)
				} else {
					require.Positive(t, f.Value, f.Name)
				}
			}
		})
	}
	require.Len(t, measurements, len(figures))
}

func TestOnlyTheNamedMeasurementsAreTaken(t *testing.T) {
	t.Parallel()
	all, err := chosen("")
	require.NoError(t, err)
	require.Len(t, all, len(measurements))
	some, err := chosen("group,limit")
	require.NoError(t, err)
	require.Len(t, some, 2)
	require.Equal(t, "group", some[0].name)
	_, err = chosen("limit,limits")
	require.ErrorContains(t, err, `"limits"`)
}

func TestFiguresAreShownAsATableAndAsJSON(t *testing.T) {
	t.Parallel()
	figures := []figure{{Name: "burst: rate", Unit: "updates/s", Value: 62.04, Goal: "≥ 60", All: []float64{62.04}}}
	var table, list bytes.Buffer
	require.NoError(t, show(&table, "table", 1, figures))
	require.Contains(t, table.String(), "burst: rate  62.0         updates/s  ≥ 60  [62.0]")
	require.NoError(t, show(&list, "json", 1, figures))
	var again []figure
	require.NoError(t, json.Unmarshal(list.Bytes(), &again))
	require.Equal(t, figures, again)
}

func TestTheMedianIsTheMiddleOfAnyOrder(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 2, median([]float64{3, 1, 2}), 0)
	require.InDelta(t, 5, median([]float64{5}), 0)
}
