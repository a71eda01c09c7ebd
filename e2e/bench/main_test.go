package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheBenchMeasuresEveryFigure(t *testing.T) {
	t.Parallel()
	small := plan{Runs: 1, Steady: time.Second, Burst: 30, Soak: 30, Latency: time.Millisecond}
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), small, "json", &out))
	var figures []figure
	require.NoError(t, json.Unmarshal(out.Bytes(), &figures))
	require.Len(t, figures, 10)
	for _, f := range figures {
		require.Len(t, f.All, 1, f.Name)
		switch f.Unit {
		case "updates":
			require.Zero(t, f.Value, f.Name)
		default:
			require.Positive(t, f.Value, f.Name)
		}
	}
}

func TestTheMedianIsTheMiddleOfAnyOrder(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 2, median([]float64{3, 1, 2}), 0)
	require.InDelta(t, 5, median([]float64{5}), 0)
}
