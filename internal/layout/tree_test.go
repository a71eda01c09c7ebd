package layout_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tree is every Go file of a module, by package.
type tree struct {
	files []imports
	docs  map[string]string // package → what its doc.go (or main.go) says of it, empty without one
}

// scan reads the module at dir. Modules inside it have rules of their own.
func scan(t *testing.T, dir string) tree {
	t.Helper()
	found := tree{docs: map[string]string{}}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return enter(dir, path)
		}
		if filepath.Ext(path) == ".go" {
			found.add(t, dir, path)
		}
		return nil
	})
	require.NoError(t, err)
	return found
}

// enter skips what the go command does not build either.
func enter(dir, path string) error {
	name := filepath.Base(path)
	switch {
	case path == dir:
		return nil
	case name == "testdata", strings.HasPrefix(name, "."), strings.HasPrefix(name, "_"):
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

func (f *tree) add(t *testing.T, dir, path string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly|parser.ParseComments)
	require.NoError(t, err)
	name, err := filepath.Rel(dir, path)
	require.NoError(t, err)
	name = filepath.ToSlash(name)
	pkg := root
	if folder := filepath.ToSlash(filepath.Dir(name)); folder != root {
		pkg = root + "/" + folder
	}
	file := imports{file: name, pkg: pkg, test: strings.HasSuffix(name, "_test.go")}
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		file.of = append(file.of, relative(imported))
	}
	f.files = append(f.files, file)
	f.note(name, pkg, parsed.Doc)
}

// note remembers the package, and its comment when this file is its doc.go. A
// program of one file may introduce itself in main.go.
func (f *tree) note(name, pkg string, doc *ast.CommentGroup) {
	text := f.docs[pkg]
	switch filepath.Base(name) {
	case "doc.go":
		text = doc.Text()
	case "main.go":
		text = cmp.Or(text, doc.Text())
	}
	f.docs[pkg] = text
}

// violations are the forbidden imports and the packages that do not introduce
// themselves, sorted.
func (f *tree) violations() []string {
	var all []string
	for _, file := range f.files {
		all = append(all, check(file)...)
	}
	for pkg, doc := range f.docs {
		if !strings.HasPrefix(doc, "Package ") && !strings.HasPrefix(doc, "Command ") {
			all = append(all, fmt.Sprintf("%s: no doc.go with a comment that starts with Package or Command", pkg))
		}
	}
	slices.Sort(all)
	return all
}
