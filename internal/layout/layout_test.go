package layout_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPackagesImportOnlyWhatTheTableAllows(t *testing.T) {
	t.Parallel()
	found := scan(t, filepath.Join("..", ".."))
	require.Contains(t, found.docs, "./internal/layout", "the scan sees the module")
	violations := found.violations()
	require.Empty(t, violations, strings.Join(violations, "\n"))
}

func TestEveryRowHasAReason(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range table {
		require.NotEmpty(t, r.reason, r.path)
		require.False(t, seen[r.path], "%s has two rows", r.path)
		seen[r.path] = true
	}
	for _, b := range bans {
		require.NotEmpty(t, b.reason, b.path)
	}
}

func TestRulesDecideSingleImports(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, imported, verdict string // an empty verdict is a permission
	}{
		{"durabot.go", "/worker", ""},
		{"durabot.go", "/cmd/durabot", "a program is not a library"},
		{"cmd/durabot/main.go", "", ""},
		{"cmd/durabot/main.go", "/internal/cli", "one call of the author's door"},
		{"starter/poll.go", "/internal/telegram", ""},
		{"starter/poll.go", "/workflows", "by their names only"},
		{"starter/poll_test.go", "/workflows", "by their names only"},
		{"starter/poll_test.go", "/internal/telegramsim", ""},
		{"starter/poll_test.go", "/internal/devserver", ""},
		{"starter/poll.go", "/internal/telegramsim", "never of a running bot"},
		{"starter/poll.go", "/internal/devserver", "by their names only"},
		{"workflows/update.go", "/activities", ""},
		{"workflows/update.go", "/starter", "a workflow decides"},
		{"workflows/update.go", "/internal/telegram", "must be countable"},
		{"workflows/update_test.go", "/internal/telegram", "a workflow decides"},
		{"activities/send.go", "/workflows", "neither who asked"},
		{"worker/duty.go", "/worker/limiter", ""},
		{"worker/duty.go", "/internal/cli", "must not know it"},
		{"worker/limiter/lane.go", "/worker", "arithmetic on time"},
		{"worker/limiter/lane_test.go", "/worker/limiter", ""},
		{"internal/contract/ids.go", "/internal/telegram", "must be countable"},
		{"internal/contract/ids.go", "/activities", "must not change with another package"},
		{"internal/telegramsim/page/page.go", "/internal/telegramsim", ""},
		{"internal/telegramsim/sim.go", "/internal/telegram", "must be countable"},
		{"internal/cli/send.go", "/internal/telegram", ""},
		{"internal/cli/send.go", "/e2e", "nobody's part"},
		{"internal/config/config.go", "/internal/telegram", ""},
		{"internal/telemetry/log.go", "/internal/telegram", "must be countable"},
		{"internal/telemetry/log.go", "/cmd/durabot", "a program is not a library"},
		{"e2e/g1_test.go", "/internal/telegramsim", ""},
		{"tools/devserver/main.go", "/internal/devserver", ""},
		{"tools/devserver/main.go", "/worker", "what is built"},
		{"surprise/surprise.go", "/worker", "no row in the table"},
		{"worker/duty.go", "/surprise", "must not know it"},
		{"internal/telegram/client.go", "github.com/go-resty/resty/v2", ""},
		{"activities/send.go", "github.com/go-resty/resty/v2", "second HTTP client"},
		{"activities/send.go", "go.temporal.io/sdk/activity", ""},
		{"workflows/update.go", "time", ""},
	} {
		t.Run(c.file+" imports "+c.imported, func(t *testing.T) {
			t.Parallel()
			imported := c.imported
			if imported == "" || imported[0] == '/' {
				imported = module + imported
			}
			dir := filepath.Dir(c.file)
			violations := check(imports{
				file: c.file,
				pkg:  relative(strings.TrimSuffix(module+"/"+dir, "/.")),
				test: strings.HasSuffix(c.file, "_test.go"),
				of:   []string{relative(imported)},
			})
			if c.verdict == "" {
				require.Empty(t, violations)
				return
			}
			require.Len(t, violations, 1)
			require.Contains(t, violations[0], c.verdict)
		})
	}
}

// TestFabricatedViolationsAreFound is the negative control: the same scan that
// passes on this module fails on one that breaks each rule once.
func TestFabricatedViolationsAreFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                   "module " + module,
		"doc.go":                   "// Package durabot is fine.\npackage durabot",
		"starter/doc.go":           "// Package starter reaches too far.\npackage starter\nimport _ \"" + module + "/workflows\"",
		"workflows/doc.go":         "// Tells nothing.\npackage workflows",
		"activities/send.go":       "// Package activities is introduced in the wrong file.\npackage activities",
		"cmd/durabot/main.go":      "// Command durabot is introduced where it is.\npackage main",
		"starter/testdata/x.go":    "package broken\nimport _ \"" + module + "/cmd\"",
		"examples/own/go.mod":      "module example.com/own",
		"examples/own/main.go":     "package main\nimport _ \"" + module + "/worker\"",
		".hidden/hidden.go":        "package hidden",
		"internal/surprise/doc.go": "// Package surprise is new.\npackage surprise",
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text+"\n"), 0o600))
	}
	found := scan(t, dir)
	require.Equal(t, []string{
		"./activities: no doc.go with a comment that starts with Package or Command",
		"./workflows: no doc.go with a comment that starts with Package or Command",
		"internal/surprise/doc.go: package ./internal/surprise has no row in the table of internal/layout",
		"starter/doc.go: ./starter must not import ./workflows: intake knows workflows by their names only",
	}, found.violations())
}
