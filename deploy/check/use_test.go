package check_test

import (
	"debug/elf"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// secretFiles are what an operator puts into the files that are mounted.
var secretFiles = map[string]string{
	"bot-token":      "123456789:AAAA-not-a-real-token-000000000000\n",
	"webhook-secret": "not-a-real-secret\n",
	"temporal.toml":  "[profile.default]\naddress = \"127.0.0.1:1\"\nnamespace = \"bots.a1b2c\"\napi_key = \"not-a-real-key\"\n",
}

// use is one durabot that a file of deploy starts.
type use struct {
	where string
	args  []string
	env   map[string]string
	files map[string]string // what is mounted for it, by path
	grace time.Duration     // between SIGTERM and SIGKILL
	paths []string          // of its HTTP port that others ask for
}

// uses are all there are.
func uses(t *testing.T) []use {
	t.Helper()
	return slices.Concat(composeUses(t, nil), composeUses(t, []string{"compose.webhook.yaml"}), kubernetesUses(t, "base"), kubernetesUses(t, "webhook"), kubernetesUses(t, "cloud"), systemdUses(t))
}

// stopBound is what the process itself takes at most to stop.
func stopBound(t *testing.T) time.Duration {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(repository, "worker", "queues.go"))
	require.NoError(t, err)
	found := regexp.MustCompile(`dutyStopTimeout = (\d+) \* time\.Second`).FindSubmatch(source)
	require.NotNil(t, found)
	seconds, err := strconv.Atoi(string(found[1]))
	require.NoError(t, err)
	return time.Duration(seconds) * time.Second
}

func TestTheFilesStartADurabotThatTakesWhatTheySay(t *testing.T) {
	t.Parallel()
	made := construct(t)
	for name, text := range secretFiles {
		jail{root: made.root}.put(t, "/run/secrets/"+name, text)
	}
	inside := jail{root: made.root, user: made.user, env: made.env}
	t.Run("image", func(t *testing.T) {
		t.Parallel()
		checkBinary(t, inside, made)
		checkHealth(t, inside, made)
	})
	for _, u := range uses(t) {
		for name, text := range u.files {
			inside.put(t, name, text)
		}
		t.Run(u.where, func(t *testing.T) {
			t.Parallel()
			checkNames(t, inside, u)
			if u.args[0] == "run" {
				checkRun(t, inside, u)
				return
			}
			cmd := inside.with(u.env).command(t.Context(), t, append([]string{"/durabot"}, u.args...)...)
			out, err := cmd.CombinedOutput()
			require.Error(t, err, "without a Temporal")
			require.Contains(t, string(out), "no answer from Temporal")
		})
	}
}

// checkBinary has the image's file be one that needs no other.
func checkBinary(t *testing.T, inside jail, made stage) {
	t.Helper()
	binary, err := elf.Open(filepath.Join(made.root, made.start[0]))
	require.NoError(t, err)
	defer binary.Close()
	libraries, err := binary.ImportedLibraries()
	require.NoError(t, err)
	require.Empty(t, libraries)
	require.False(t, slices.ContainsFunc(binary.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }), "it needs no loader")
	out, err := inside.command(t.Context(), t, made.start[0], "version").CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "durabot "+stamped+"\n", string(out))
}

// checkHealth starts what the image starts, and asks as an engine does.
func checkHealth(t *testing.T, inside jail, made stage) {
	t.Helper()
	here := inside.with(map[string]string{"TELEGRAM_BOT_TOKEN_FILE": "/run/secrets/bot-token"})
	b := here.start(t, made.start...)
	ask := here.with(map[string]string{"DURABOT_HTTP": b.address})
	out, err := ask.command(t.Context(), t, made.ask...).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "alive\n", string(out))
	require.Equal(t, 404, b.serves(t, "GET", "/nothing"))
	b.stop(t, stopBound(t))
	require.Error(t, ask.command(t.Context(), t, made.ask...).Run())
}

// checkNames has every flag and variable be one of the program's: it ignores
// variables that it does not know.
func checkNames(t *testing.T, inside jail, u use) {
	t.Helper()
	help, err := inside.command(t.Context(), t, "/durabot", u.args[0], "--help").CombinedOutput()
	require.NoError(t, err, string(help))
	flags := map[string]bool{}
	for _, found := range regexp.MustCompile(`--([a-z][a-z-]*)`).FindAllSubmatch(help, -1) {
		flags[string(found[1])] = true
	}
	for _, arg := range u.args[1:] {
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		require.True(t, flags[name], "%s: no flag of durabot %s", arg, u.args[0])
	}
	elsewhere := variables(t)
	for name := range u.env {
		flag, ours := strings.CutPrefix(name, "DURABOT_")
		known := ours && flags[strings.ToLower(strings.ReplaceAll(flag, "_", "-"))] || elsewhere[name]
		require.True(t, known, "%s: durabot reads no such variable", name)
	}
}

// variables are those that no flag has: durabot's own, and those of Temporal's
// settings.
func variables(t *testing.T) map[string]bool {
	t.Helper()
	dir := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "go.temporal.io/sdk/contrib/envconfig")
	dir.Dir = repository
	settings, err := dir.Output()
	require.NoError(t, err)
	all := map[string]bool{}
	for folder, name := range map[string]string{filepath.Join(repository, "internal", "config"): "TELEGRAM", strings.TrimSpace(string(settings)): "TEMPORAL"} {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, found := range regexp.MustCompile(`"(`+name+`_[A-Z_]+)"`).FindAllSubmatch(source, -1) {
				all[string(found[1])] = true
			}
		}
	}
	return all
}

// checkRun starts it, has it serve what others ask of it, and stops it in time.
func checkRun(t *testing.T, inside jail, u use) {
	t.Helper()
	require.GreaterOrEqual(t, u.grace, stopBound(t)+5*time.Second, "a process that is killed leaves calls in doubt")
	b := inside.with(u.env).start(t, append([]string{"/durabot"}, u.args...)...)
	require.NotEmpty(t, u.paths)
	for _, path := range u.paths {
		require.NotEqual(t, 404, b.serves(t, "GET", path), "%s is no page of durabot's", path)
	}
	b.stop(t, u.grace)
}

// with adds variables, but has the program listen at a port that is free and find
// no Temporal.
func (j jail) with(env map[string]string) jail {
	all := maps.Clone(env)
	all["TEMPORAL_ADDRESS"], all["DURABOT_LOG_FORMAT"] = "127.0.0.1:1", "json"
	if all["DURABOT_HTTP"] == "" || strings.HasSuffix(all["DURABOT_HTTP"], ":8080") {
		all["DURABOT_HTTP"] = "127.0.0.1:0"
	}
	j.env = slices.Clone(j.env)
	for name, value := range all {
		j.env = append(j.env, name+"="+value)
	}
	return j
}
