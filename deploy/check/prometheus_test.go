package check_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/require"
)

const (
	prometheusFile = "../prometheus/prometheus.yml"
	rulesFile      = "../prometheus/durabot.rules.yml"
	operationsFile = "../../docs/operations.md"
	operationsPage = "https://github.com/durabot/durabot/blob/main/docs/operations.md#"
)

var promQL = parser.NewParser(parser.Options{})

// alertRules are the rules as Prometheus reads them, by name.
func alertRules(t *testing.T) map[string]rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.ParseFile(rulesFile, false, model.UTF8Validation, promQL, slog.New(slog.DiscardHandler))
	require.Empty(t, errs)
	all := map[string]rulefmt.Rule{}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			require.NotContains(t, all, rule.Alert)
			all[rule.Alert] = rule
		}
	}
	require.NotEmpty(t, all)
	return all
}

func TestPrometheusTakesItsConfigurationAndTheRulesInIt(t *testing.T) {
	t.Parallel()
	c, err := config.LoadFile(prometheusFile, false, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Clean(rulesFile)}, c.RuleFiles)
	require.Equal(t, "durabot", c.ScrapeConfigs[0].JobName, "which the rules look for")
}

func TestEveryAlertSaysWhatItMeansAndHowBadItIs(t *testing.T) {
	t.Parallel()
	for name, rule := range alertRules(t) {
		require.Regexp(t, `^Durabot[A-Z]`, name)
		require.Contains(t, []string{"critical", "warning"}, rule.Labels["severity"], name)
		require.NotEmpty(t, rule.Annotations["summary"], name)
		require.NotEmpty(t, rule.Annotations["description"], name)
	}
}

func TestEveryAlertLinksToItsParagraph(t *testing.T) {
	t.Parallel()
	headings := operationsHeadings(t)
	require.Contains(t, headings, "nobody-on-duty")
	for name, rule := range alertRules(t) {
		anchor, ok := strings.CutPrefix(rule.Annotations["runbook_url"], operationsPage)
		require.True(t, ok, name)
		require.Contains(t, headings, anchor, name)
	}
}

var heading = regexp.MustCompile(`(?m)^##+ (.*)$`)

// operationsHeadings are the anchors that GitHub gives the page's headings.
func operationsHeadings(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile(operationsFile)
	require.NoError(t, err)
	var all []string
	for _, match := range heading.FindAllStringSubmatch(string(page), -1) {
		words := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(match[1]), "")
		all = append(all, strings.ReplaceAll(words, " ", "-"))
	}
	return all
}
