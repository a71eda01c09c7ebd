package check_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/require"
)

// added are the labels that Prometheus itself gives what it scrapes.
var added = []string{"job", "instance"}

// elsewhere are metrics that no process exports: Prometheus makes them.
var elsewhere = []string{"up"}

// afterAFailure are metrics that are there once something has failed. That the SDK
// counts workflow tasks under this name is tested in internal/telemetry, which
// makes one fail.
var afterAFailure = []string{"temporal_workflow_task_execution_failed"}

func TestEveryMetricThatARuleNamesIsExportedWithItsLabels(t *testing.T) {
	t.Parallel()
	series := scraped(t)
	for name, rule := range alertRules(t) {
		requireExported(t, series, rule.Expr, name)
	}
}

func TestEveryMetricThatAPanelShowsIsExportedWithItsLabels(t *testing.T) {
	t.Parallel()
	series := scraped(t)
	for _, p := range dashboard(t) {
		for _, expr := range p.expressions() {
			requireExported(t, series, expr, p.Title)
		}
	}
}

func TestEveryMetricOfOursIsInTheTableOfMetrics(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(operationsFile)
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(page), "\n## Metrics\n")
	require.True(t, ok)
	for _, metric := range scraped(t) {
		name := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(string(metric[model.MetricNameLabel]), "")
		if strings.HasPrefix(name, "durabot_") {
			require.True(t, written(table, name), name)
		}
	}
}

// written reports whether a text has the name, or its end after an ellipsis.
func written(text, name string) bool {
	if strings.Contains(text, "`"+name) {
		return true
	}
	for rest, more := name, true; more; {
		if _, rest, more = strings.Cut(rest, "_"); more && strings.Contains(text, "`…_"+rest+"`") {
			return true
		}
	}
	return false
}

// requireExported fails unless each selector of the expression finds a series, and
// each label that an aggregation keeps is one of theirs.
func requireExported(t *testing.T, series []model.Metric, expr, of string) {
	t.Helper()
	parsed, err := promQL.ParseExpr(expr)
	require.NoError(t, err)
	for _, s := range selectors(parsed) {
		require.NotEmpty(t, selected(series, s), "%s: nothing is %s", of, s)
	}
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if by, ok := node.(*parser.AggregateExpr); ok && !by.Without {
			requireLabels(t, series, by, of)
		}
		return nil
	})
}

func requireLabels(t *testing.T, series []model.Metric, by *parser.AggregateExpr, of string) {
	t.Helper()
	for _, s := range selectors(by.Expr) {
		for _, label := range by.Grouping {
			require.True(t, slices.Contains(added, label) || slices.ContainsFunc(selected(series, s), func(m model.Metric) bool {
				_, ok := m[model.LabelName(label)]
				return ok
			}), "%s: %s has no %s", of, s, label)
		}
	}
}

// selectors are those of what a process of the bot exports at any time.
func selectors(of parser.Node) []*parser.VectorSelector {
	var all []*parser.VectorSelector
	parser.Inspect(of, func(node parser.Node, _ []parser.Node) error {
		s, ok := node.(*parser.VectorSelector)
		if ok && !slices.Contains(elsewhere, s.Name) && !slices.Contains(afterAFailure, s.Name) {
			all = append(all, s)
		}
		return nil
	})
	return all
}

// selected are the series that a selector finds.
func selected(series []model.Metric, s *parser.VectorSelector) []model.Metric {
	return slices.DeleteFunc(slices.Clone(series), func(m model.Metric) bool { return !selects(s, m) })
}

// selects reports whether a selector finds a series of a process.
func selects(s *parser.VectorSelector, m model.Metric) bool {
	return !slices.ContainsFunc(s.LabelMatchers, func(by *labels.Matcher) bool {
		return !slices.Contains(added, by.Name) && !by.Matches(string(m[model.LabelName(by.Name)]))
	})
}

// readSeries returns what Prometheus makes of a scrape's text, with the buckets, sums and
// counts of histograms.
func readSeries(t *testing.T, text string) []model.Metric {
	t.Helper()
	reader := expfmt.NewTextParser(model.UTF8Validation)
	families, err := reader.TextToMetricFamilies(strings.NewReader(text))
	require.NoError(t, err)
	var all []model.Metric
	for _, family := range families {
		samples, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, family)
		require.NoError(t, err)
		for _, sample := range samples {
			all = append(all, sample.Metric)
		}
	}
	return all
}
