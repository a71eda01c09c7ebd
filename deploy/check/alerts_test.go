package check_test

import (
	"log/slog"
	"net/url"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"github.com/stretchr/testify/require"
)

const (
	// evaluateEvery is between two evaluations of a rule.
	evaluateEvery = 15 * time.Second
	// never is the time at which an alert fires that must not.
	never = time.Duration(-1)
)

// scene is something that happens to a bot.
type scene struct {
	name string
	// load is what Prometheus scrapes, in the notation of its own tests.
	load string
	// from and to are the first and last evaluation.
	from, to time.Duration
	// fires is the evaluation at which the alert begins to fire.
	fires time.Duration
	// summary is what it then says first.
	summary string
}

func TestAnAlertFiresWhenItShouldAndNotBefore(t *testing.T) {
	t.Parallel()
	all := alertRules(t)
	for alert, scenes := range alertScenes() {
		require.Contains(t, all, alert)
		for _, s := range scenes {
			t.Run(alert+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				fires, summary := play(t, all[alert], s)
				require.Equal(t, s.fires, fires)
				require.Equal(t, s.summary, summary)
			})
		}
	}
}

func TestEveryAlertHasASceneInWhichItFiresAndOneInWhichItDoesNot(t *testing.T) {
	t.Parallel()
	all := alertScenes()
	for alert := range alertRules(t) {
		fires, quiet := 0, 0
		for _, s := range all[alert] {
			if s.fires == never {
				quiet++
			} else {
				fires++
			}
		}
		require.Positive(t, fires, alert)
		require.Positive(t, quiet, alert)
	}
}

// play evaluates a rule through a scene as Prometheus does, and returns when it
// fires first and what it says then. It has to be one alert, not one a process.
func play(t *testing.T, rule rulefmt.Rule, s scene) (time.Duration, string) {
	t.Helper()
	storage := promqltest.LoadedStorage(t, s.load)
	query := rules.EngineQueryFunc(promqltest.NewTestEngine(t, false, 5*time.Minute, 50_000_000), storage)
	expr, err := promQL.ParseExpr(rule.Expr)
	require.NoError(t, err)
	alerting := rules.NewAlertingRule(rule.Alert, expr, time.Duration(rule.For), time.Duration(rule.KeepFiringFor),
		labels.FromMap(rule.Labels), labels.FromMap(rule.Annotations), labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler))
	for at := s.from; at <= s.to; at += evaluateEvery {
		_, err := alerting.Eval(t.Context(), 0, time.Unix(0, 0).Add(at), query, &url.URL{}, 0)
		require.NoError(t, err)
		for _, alert := range alerting.ActiveAlerts() {
			if alert.State == rules.StateFiring {
				require.Len(t, alerting.ActiveAlerts(), 1)
				return at, alert.Annotations.Get("summary")
			}
		}
	}
	return never, ""
}
