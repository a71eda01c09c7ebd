package check_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"
)

// compose loads compose.yaml, and what is laid over it, as Compose does.
func compose(t *testing.T, over ...string) *types.Project {
	t.Helper()
	files := []string{filepath.Join(deploy, "compose.yaml")}
	for _, name := range over {
		files = append(files, filepath.Join(deploy, name))
	}
	options, err := cli.NewProjectOptions(files, cli.WithEnv([]string{"WEBHOOK_HOST=bot.example.org"}))
	require.NoError(t, err)
	project, err := options.LoadProject(t.Context())
	require.NoError(t, err)
	return project
}

func ours(s types.ServiceConfig) bool { return strings.HasPrefix(s.Image, "durabot:") }

// once reports whether the service is one that ends by itself.
func once(s types.ServiceConfig) bool { return strings.HasPrefix(s.Restart, "on-failure") }

// composeUses are the services that run durabot.
func composeUses(t *testing.T, over []string) []use {
	t.Helper()
	var all []use
	for name, s := range compose(t, over...).Services {
		if !ours(s) {
			continue
		}
		u := use{where: strings.Join(append(over, name), " "), args: []string{"run"}, env: map[string]string{}, files: map[string]string{}, paths: []string{"/healthz"}}
		if len(s.Command) > 0 {
			u.args = s.Command
		}
		for variable, value := range s.Environment {
			u.env[variable] = *value
		}
		for _, secret := range s.Secrets {
			u.files[target(secret)] = secretFiles[secret.Source]
		}
		if s.StopGracePeriod != nil {
			u.grace = time.Duration(*s.StopGracePeriod)
		}
		if u.env["DURABOT_INTAKE"] == "webhook" {
			u.paths = append(u.paths, caddyPath(t))
		}
		all = append(all, u)
	}
	require.Len(t, all, 3)
	return all
}

// target is where a service finds a secret.
func target(secret types.ServiceSecretConfig) string {
	if secret.Target == "" {
		return "/run/secrets/" + secret.Source
	}
	return secret.Target
}

func TestComposeHasTheServicesThatTheREADMENames(t *testing.T) {
	t.Parallel()
	names := compose(t).ServiceNames()
	for _, name := range []string{"durabot-1", "durabot-2", "durabot-setup", "temporal", "temporal-ui", "postgres", "prometheus", "grafana"} {
		require.Contains(t, names, name)
	}
	require.Contains(t, compose(t, "compose.webhook.yaml").ServiceNames(), "caddy")
}

func TestEveryServiceIsPinnedComesBackAndKeepsItsLogsShort(t *testing.T) {
	t.Parallel()
	for name, s := range compose(t, "compose.webhook.yaml").Services {
		require.Regexp(t, `^[a-z/-]+:v?\d+(\.\d+)*$|^durabot:dev$`, s.Image, "%s: a version", name)
		if !once(s) {
			require.Equal(t, "unless-stopped", s.Restart, name)
		}
		require.NotNil(t, s.Logging, name)
		require.Equal(t, "json-file", s.Logging.Driver, name)
		require.NotEmpty(t, s.Logging.Options["max-size"], name)
		require.NotEmpty(t, s.Logging.Options["max-file"], name)
	}
}

func TestPortsAreForThisMachineButThoseOfTheWebhook(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for name, s := range compose(t, "compose.webhook.yaml").Services {
		for _, port := range s.Ports {
			require.False(t, seen[port.Published], "%s: port %s is taken", name, port.Published)
			seen[port.Published] = true
			if name != "caddy" {
				require.Equal(t, "127.0.0.1", port.HostIP, "%s: %s", name, port.Published)
			}
		}
	}
	require.True(t, seen["8080"] && seen["7233"] && seen["8233"])
}

func TestADurabotOfComposeCanChangeNothingAndItsTokenIsAFile(t *testing.T) {
	t.Parallel()
	for name, s := range compose(t, "compose.webhook.yaml").Services {
		if !ours(s) {
			continue
		}
		require.Regexp(t, `^[1-9]\d*:[1-9]\d*$`, s.User, name)
		require.True(t, s.ReadOnly, name)
		require.Equal(t, []string{"ALL"}, s.CapDrop, name)
		require.Empty(t, s.CapAdd, name)
		require.Contains(t, s.SecurityOpt, "no-new-privileges:true", name)
		require.Positive(t, s.MemLimit, name)
		require.NotContains(t, s.Environment, "TELEGRAM_BOT_TOKEN", name)
		require.NotContains(t, s.Environment, "DURABOT_WEBHOOK_SECRET", name)
		if !once(s) {
			require.Equal(t, types.ServiceConditionCompletedSuccessfully, s.DependsOn["durabot-setup"].Condition, name)
			requireMounted(t, name, s)
		}
	}
}

// requireMounted checks that the secrets a service names are there for it.
func requireMounted(t *testing.T, name string, s types.ServiceConfig) {
	t.Helper()
	var mounted []string
	for _, secret := range s.Secrets {
		mounted = append(mounted, target(secret))
	}
	require.Contains(t, s.Environment, "TELEGRAM_BOT_TOKEN_FILE", name)
	for _, variable := range []string{"TELEGRAM_BOT_TOKEN_FILE", "DURABOT_WEBHOOK_SECRET_FILE"} {
		if file := s.Environment[variable]; file != nil {
			require.Contains(t, mounted, *file, "%s: %s", name, variable)
		}
	}
}

func TestOneServiceBuildsTheImageOfAll(t *testing.T) {
	t.Parallel()
	services := compose(t).Services
	build := services["durabot-setup"].Build
	require.NotNil(t, build)
	root, err := filepath.Abs(repository)
	require.NoError(t, err)
	require.Equal(t, root, build.Context)
	require.FileExists(t, filepath.Join(root, build.Dockerfile))
	for _, name := range []string{"durabot-1", "durabot-2"} {
		require.Nil(t, services[name].Build)
		require.Equal(t, services["durabot-setup"].Image, services[name].Image)
		require.Equal(t, types.PullPolicyNever, services[name].PullPolicy, "a stranger's image of that name must not run")
	}
}

func TestWhatIsMountedIsThereAndSecretsAreNotInTheRepository(t *testing.T) {
	t.Parallel()
	project := compose(t, "compose.webhook.yaml")
	for name, s := range project.Services {
		for _, v := range s.Volumes {
			if v.Type != types.VolumeTypeBind {
				continue
			}
			require.True(t, v.ReadOnly, "%s: %s", name, v.Target)
			_, err := os.Stat(v.Source)
			require.NoError(t, err, "%s mounts what is not there", name)
		}
	}
	ignored, err := os.ReadFile(filepath.Join(deploy, ".gitignore"))
	require.NoError(t, err)
	for _, secret := range project.Secrets {
		require.Equal(t, "secrets", filepath.Base(filepath.Dir(secret.File)))
	}
	require.Contains(t, strings.Split(string(ignored), "\n"), "/secrets/")
}

func TestTemporalsServerAndToolsAreOfOneVersion(t *testing.T) {
	t.Parallel()
	services := compose(t).Services
	_, version, _ := strings.Cut(services["temporal"].Image, ":")
	for _, name := range []string{"temporal-schema", "temporal-namespace"} {
		require.Equal(t, "temporalio/admin-tools:"+version, services[name].Image)
	}
	require.True(t, slices.ContainsFunc(services["temporal"].Volumes, func(v types.ServiceVolumeConfig) bool {
		return v.Target == *services["temporal"].Environment["DYNAMIC_CONFIG_FILE_PATH"]
	}), "a server without the file that it is told of does not start")
}

// caddyPath is the one path that Caddy hands on, to every durabot.
func caddyPath(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deploy, "caddy", "Caddyfile"))
	require.NoError(t, err)
	found := regexp.MustCompile(`handle (/\S+) \{\s+reverse_proxy ([^{]+) \{`).FindSubmatch(text)
	require.NotNil(t, found)
	require.Equal(t, []string{"durabot-1:8080", "durabot-2:8080"}, strings.Fields(string(found[2])))
	return string(found[1])
}
