package check_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
	"github.com/stretchr/testify/require"
)

// The repository and the folder that is checked.
const (
	repository = "../.."
	deploy     = ".."
)

// stamped is the version that an image is built with here.
const stamped = "v9.8.7-check"

// stages are the Dockerfile's, as the engine's own parser reads it.
func stages(t *testing.T) []instructions.Stage {
	t.Helper()
	file, err := os.Open(filepath.Join(deploy, "Dockerfile"))
	require.NoError(t, err)
	defer file.Close()
	parsed, err := parser.Parse(file)
	require.NoError(t, err)
	require.Empty(t, parsed.Warnings)
	found, args, err := instructions.Parse(parsed.AST, nil)
	require.NoError(t, err)
	require.Empty(t, args)
	return found
}

// stage is a stage of an image under construction, its files below root.
type stage struct {
	root, dir string
	env       []string
	user      string
	start     []string // entrypoint and command
	ask       []string // health check
}

// construct carries out the steps of a Dockerfile one after the other; base images
// are empty.
func construct(t *testing.T) stage {
	t.Helper()
	built := map[string]*stage{"": {root: buildContext(t)}}
	var last *stage
	for _, s := range stages(t) {
		last = &stage{root: t.TempDir(), dir: "/"}
		for _, c := range s.Commands {
			last.step(t, c, built)
		}
		built[s.Name] = last
	}
	return *last
}

func (s *stage) step(t *testing.T, c instructions.Command, built map[string]*stage) {
	t.Helper()
	switch c := c.(type) {
	case *instructions.WorkdirCommand:
		s.dir = c.Path
		require.NoError(t, os.MkdirAll(s.path("."), 0o755))
	case *instructions.ArgCommand:
		for _, a := range c.Args {
			s.env = append(s.env, a.Key+"="+*a.Value)
		}
		if c.Args[0].Key == "VERSION" {
			s.env = append(s.env, "VERSION="+stamped)
		}
	case *instructions.EnvCommand:
		for _, e := range c.Env {
			s.env = append(s.env, e.Key+"="+e.Value)
		}
	case *instructions.CopyCommand:
		for _, from := range c.SourcePaths {
			s.take(t, filepath.Join(built[c.From].root, from), c.DestPath)
		}
	case *instructions.RunCommand:
		s.run(t, strings.Join(c.CmdLine, " "))
	case *instructions.UserCommand:
		s.user = c.User
	case *instructions.EntrypointCommand:
		require.False(t, c.PrependShell, "there is no shell in the image")
		s.start = c.CmdLine
	case *instructions.CmdCommand:
		require.False(t, c.PrependShell, "there is no shell in the image")
		s.start = append(slices.Clone(s.start), c.CmdLine...)
	case *instructions.HealthCheckCommand:
		require.Equal(t, "CMD", c.Health.Test[0], "there is no shell in the image")
		s.ask = c.Health.Test[1:]
	case *instructions.ExposeCommand:
	default:
		require.Fail(t, "a step that is not known here", "%s", c)
	}
}

// path is where a path of the image is.
func (s *stage) path(name string) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.dir, name)
	}
	return filepath.Join(s.root, name)
}

// take copies a file, or what is in a folder.
func (s *stage) take(t *testing.T, from, to string) {
	t.Helper()
	target := s.path(to)
	if strings.HasSuffix(to, "/") {
		target = filepath.Join(target, filepath.Base(from))
	}
	info, err := os.Stat(from)
	require.NoError(t, err)
	if info.IsDir() {
		require.NoError(t, os.RemoveAll(s.path(to)))
		require.NoError(t, os.CopyFS(s.path(to), os.DirFS(from)))
		return
	}
	data, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(target), 0o755))
	require.NoError(t, os.WriteFile(target, data, info.Mode()))
}

// run runs a command with this machine's tools; what it writes to /out is the
// stage's.
func (s *stage) run(t *testing.T, line string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(line, " /out/", " "+s.root+"/out/"))
	cmd.Dir, cmd.Env = s.path("."), append(os.Environ(), s.env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", line, out)
}

// buildContext is a copy of what the engine gets to see of the repository.
func buildContext(t *testing.T) string {
	t.Helper()
	file, err := os.Open(filepath.Join(deploy, "Dockerfile.dockerignore"))
	require.NoError(t, err)
	defer file.Close()
	patterns, err := ignorefile.ReadAll(file)
	require.NoError(t, err)
	ignored, err := patternmatcher.New(patterns)
	require.NoError(t, err)
	seen := &stage{root: t.TempDir(), dir: "/"}
	require.NoError(t, filepath.WalkDir(repository, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(repository, path)
		skip, _ := ignored.MatchesOrParentMatches(name)
		switch {
		case err != nil || name == ".":
			return err
		case d.IsDir() && skip:
			return fs.SkipDir
		case d.IsDir() || skip:
			return nil
		}
		seen.take(t, path, name)
		return nil
	}))
	return seen.root
}

func TestTheBuildSeesSourcesAlone(t *testing.T) {
	t.Parallel()
	require.NoError(t, filepath.WalkDir(buildContext(t), func(path string, d fs.DirEntry, err error) error {
		require.NotRegexp(t, `_test\.go$|/testdata/|/\.git|/\.dev|/\.env|/secrets/|token$|/bin/`, path)
		return err
	}))
}

func TestTheImageIsSmallAndNobodysRoot(t *testing.T) {
	t.Parallel()
	all := stages(t)
	shipped := all[len(all)-1]
	require.Regexp(t, `^gcr\.io/distroless/static-debian\d+:nonroot$`, shipped.BaseName)
	version, err := os.ReadFile(filepath.Join(repository, "go.mod"))
	require.NoError(t, err)
	require.Contains(t, string(version), "\ngo "+strings.TrimPrefix(all[0].BaseName, "golang:"), "the Go that go.mod asks for")
	for _, c := range shipped.Commands {
		require.NotEqual(t, "RUN", strings.ToUpper(c.Name()), "there is no shell in the image")
	}
}
