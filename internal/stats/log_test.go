package stats_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/stats"
)

func TestALineOfTheLogHasAllNumbersAndNoText(t *testing.T) {
	t.Parallel()
	unhandled, delivered, unreachable := int64(1), 6, 7
	n := stats.Numbers{
		InboxUnhandled: &unhandled, QueueDepth: 2, Broadcasts: 15, OldestPendingAge: 3, DeadOpen: 4, DeadLast24h: 5,
		DeliveredLast24h: &delivered, UnreachableChats: &unreachable, Paused: &contract.Pause{Reason: "SECRET", By: "SECRET"},
		Limiter: &contract.LimiterFigures{
			Tokens: 8, InAir: 9, Waiting: map[contract.Priority]int{contract.Urgent: 10, contract.Normal: 11, contract.Bulk: 12},
			Penalties: make([]contract.Penalty, 13), Learned: make([]contract.LearnedRate, 14), Held: []string{contract.HeldPaused},
		},
	}
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, nil)).LogAttrs(t.Context(), slog.LevelInfo, "numbers", n.Attrs()...)
	var line map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &line))
	delete(line, "time")
	require.Equal(t, map[string]any{
		"level": "INFO", "msg": "numbers", "inbox_unhandled": 1., "queue_depth": 2., "broadcasts": 15., "oldest_pending_age_s": 3., "dead_open": 4.,
		"dead_last_24h": 5., "delivered_last_24h": 6., "unreachable_chats": 7., "tokens": 8., "in_air": 9., "waiting_urgent": 10.,
		"waiting_normal": 11., "waiting_bulk": 12., "penalties": 13., "learned": 14., "held": []any{"paused"}, "paused": true,
	}, line)
}

func TestWhatNobodyKnowsIsLeftOutOfALine(t *testing.T) {
	t.Parallel()
	for _, attr := range (stats.Numbers{}).Attrs() {
		require.NotContains(t, []string{"inbox_unhandled", "delivered_last_24h", "tokens"}, attr.Key)
	}
}
