package check_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const grafanaDir = "../grafana/"

// panel is a panel of a dashboard as far as it can be wrong.
type panel struct {
	ID      int
	Type    string
	Title   string
	GridPos struct{ X, Y, W, H int }
	Targets []struct {
		Expr       string
		Datasource struct{ UID string }
	}
}

// dashboard are the panels that show something. Rows are left out.
func dashboard(t *testing.T) []panel {
	t.Helper()
	file, err := os.ReadFile(grafanaDir + "durabot.json")
	require.NoError(t, err)
	var d struct{ Panels []panel }
	require.NoError(t, json.Unmarshal(file, &d))
	require.NotEmpty(t, d.Panels)
	ids := map[int]string{}
	var all []panel
	for _, p := range d.Panels {
		require.Positive(t, p.ID, p.Title)
		require.NotContains(t, ids, p.ID, p.Title)
		ids[p.ID] = p.Title
		if p.Type != "row" {
			all = append(all, p)
		}
	}
	return all
}

// expressions are those of a panel, with values for Grafana's own variables.
func (p panel) expressions() []string {
	var all []string
	for _, target := range p.Targets {
		all = append(all, strings.NewReplacer("$__rate_interval", "1m", "$__range", "6h").Replace(target.Expr))
	}
	return all
}

func TestEveryPanelAsksWhatPrometheusUnderstands(t *testing.T) {
	t.Parallel()
	for _, p := range dashboard(t) {
		require.NotEmpty(t, p.Targets, p.Title)
		for i, expr := range p.expressions() {
			_, err := promQL.ParseExpr(expr)
			require.NoError(t, err, p.Title)
			require.Contains(t, expr, `job="$job",instance=~"$instance"`, p.Title)
			require.Equal(t, "${datasource}", p.Targets[i].Datasource.UID, p.Title)
		}
	}
}

func TestNoTwoPanelsLieOnEachOther(t *testing.T) {
	t.Parallel()
	taken := map[[2]int]string{}
	for _, p := range dashboard(t) {
		require.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				require.Empty(t, taken[[2]int{x, y}], p.Title)
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
}

func TestTheDashboardHasTheVariablesThatItsPanelsUse(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile(grafanaDir + "durabot.json")
	require.NoError(t, err)
	var d struct {
		UID, Title string
		Templating struct {
			List []struct{ Name, Type string }
		}
	}
	require.NoError(t, json.Unmarshal(file, &d))
	require.Equal(t, "durabot", d.UID)
	names := map[string]string{}
	for _, v := range d.Templating.List {
		names[v.Name] = v.Type
	}
	require.Equal(t, map[string]string{"datasource": "datasource", "job": "query", "instance": "query"}, names)
}

func TestGrafanaIsProvisionedWithADataSourceAndTheDashboard(t *testing.T) {
	t.Parallel()
	var sources struct {
		Datasources []struct{ Type, URL string }
	}
	provisioned(t, "datasources/prometheus.yml", &sources)
	require.Equal(t, "prometheus", sources.Datasources[0].Type)
	require.Equal(t, "http://prometheus:9090", sources.Datasources[0].URL)
	var dashboards struct {
		Providers []struct {
			Type    string
			Options struct{ Path string }
		}
	}
	provisioned(t, "dashboards/durabot.yml", &dashboards)
	require.Equal(t, "file", dashboards.Providers[0].Type)
	require.NotEmpty(t, dashboards.Providers[0].Options.Path)
}

// provisioned reads one of Grafana's provisioning files.
func provisioned(t *testing.T, name string, into any) {
	t.Helper()
	file, err := os.ReadFile(grafanaDir + "provisioning/" + name)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(file, into))
}
