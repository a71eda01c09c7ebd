package telemetry_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telemetry"
	"github.com/durabot/durabot/starter"
)

// inTrouble are the gauges of troubles of a scrape that are 1, as "part" or
// "part kind", and how many there are in all.
func inTrouble(t *testing.T, m *telemetry.Metrics) (now []string, all int) {
	t.Helper()
	for line := range strings.Lines(scrape(t, m)) {
		var part, kind string
		var value int
		line = strings.NewReplacer(`"`, " ", "{", " ", "=", " ", ",", " ", "}", " ").Replace(line)
		if n, _ := fmt.Sscanf(line, "durabot_trouble kind part %s %d", &part, &value); n != 2 {
			if n, _ := fmt.Sscanf(line, "durabot_trouble kind %s part %s %d", &kind, &part, &value); n != 3 {
				continue
			}
		}
		all++
		if value == 1 {
			now = append(now, strings.TrimSpace(part+" "+kind))
		}
	}
	return now, all
}

func troubled(t *testing.T, h *telemetry.Health) *telemetry.Metrics {
	t.Helper()
	m := newMetrics(t)
	m.Registry.MustRegister(telemetry.NewTroubles(h))
	return m
}

func TestAPartIsInTroubleForAsLongAsItIsUnwell(t *testing.T) {
	t.Parallel()
	h := telemetry.NewHealth()
	m := troubled(t, h)
	requireTroubles(t, m, "start")
	h.Well(telemetry.PartStart)
	requireTroubles(t, m)
	h.Down(telemetry.PartTemporal, "away")
	h.DegradeBy(telemetry.PartIntake, starter.TelegramAway, "getUpdates: no route")
	requireTroubles(t, m, "intake telegram", "temporal")
	h.DownBy(telemetry.PartIntake, starter.OtherPoller, "conflict: somebody")
	requireTroubles(t, m, "intake conflict", "temporal")
	h.Degrade(telemetry.PartIntake, "19 of the last 20 polls failed")
	requireTroubles(t, m, "intake", "temporal")
	h.Note(telemetry.PartTemporal, "near")
	h.Well(telemetry.PartIntake)
	requireTroubles(t, m)
}

func requireTroubles(t *testing.T, m *telemetry.Metrics, want ...string) {
	t.Helper()
	now, _ := inTrouble(t, m)
	require.ElementsMatch(t, want, now)
}

func TestATroubleThatIsSaidForATimeIsOverWithIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := well()
		m := troubled(t, h)
		h.DegradeUntil(telemetry.PartWorkflows, "stuck", time.Now().Add(time.Minute))
		<-time.After(time.Minute - time.Nanosecond)
		requireTroubles(t, m, "workflows")
		<-time.After(time.Nanosecond)
		requireTroubles(t, m)
	})
}

func TestEveryTroubleIsThereBeforeItComes(t *testing.T) {
	t.Parallel()
	h := well()
	m := troubled(t, h)
	_, before := inTrouble(t, m)
	require.Equal(t, constants(t, "health.go", "Part")+constants(t, "../../starter/trouble.go", "Trouble")-1, before, "Fine is none")
	for _, p := range telemetry.Parts() {
		h.Down(p, "unwell")
		_, all := inTrouble(t, m)
		require.Equal(t, before, all, "%s", p)
	}
	for _, kind := range starter.Troubles() {
		h.DownBy(telemetry.PartIntake, kind, "unwell")
		_, all := inTrouble(t, m)
		require.Equal(t, before, all, "%s", kind)
	}
}

// constants counts those of a type in a file.
func constants(t *testing.T, file, of string) int {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	n := 0
	ast.Inspect(parsed, func(node ast.Node) bool {
		if spec, ok := node.(*ast.ValueSpec); ok {
			if name, ok := spec.Type.(*ast.Ident); ok && name.Name == of {
				n++
			}
		}
		return true
	})
	return n
}

func TestWhatPeopleAreToldIsNoLabel(t *testing.T) {
	t.Parallel()
	h := telemetry.NewHealth()
	h.DownBy(telemetry.PartIntake, starter.Refused, "the words of Telegram")
	h.Degrade(telemetry.PartBudget, "paused by ann@desk")
	text := scrape(t, troubled(t, h))
	require.NotContains(t, text, "words")
	require.NotContains(t, text, "ann")
}
