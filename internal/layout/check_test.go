package layout_test

import (
	"fmt"
	"slices"
	"strings"
)

// imports is one Go file as the rules see it.
type imports struct {
	file string // relative to the module
	pkg  string // its package, in the form of relative
	test bool
	of   []string // in the form of relative
}

// check returns one sentence per import that the rules forbid.
func check(file imports) []string {
	from, known := rowOf(file.pkg)
	if !known {
		return []string{fmt.Sprintf("%s: package %s has no row in the table of internal/layout", file.file, file.pkg)}
	}
	var violations []string
	for _, imported := range file.of {
		if reason := forbidden(from, file.test, imported); reason != "" {
			violations = append(violations, fmt.Sprintf("%s: %s must not import %s: %s", file.file, from.path, imported, reason))
		}
	}
	return violations
}

// forbidden returns why files of a row may not import a package, empty if they may.
func forbidden(from row, test bool, imported string) string {
	to, _ := rowOf(imported)
	if to.path == from.path {
		return ""
	}
	for _, b := range bans {
		if below(imported, b.path) && (b.tests || !test) && !slices.Contains(b.except, from.path) {
			return b.reason
		}
	}
	switch {
	case !isOurs(imported):
		return ""
	case slices.Contains(from.allowed, "*"), slices.Contains(from.allowed, to.path):
		return ""
	case test && slices.Contains(testOnly, to.path):
		return ""
	default:
		return from.reason
	}
}

// rowOf finds the row with the longest path that holds pkg.
func rowOf(pkg string) (row, bool) {
	var found row
	for _, r := range table {
		if below(pkg, r.path) && len(r.path) > len(found.path) {
			found = r
		}
	}
	return found, found.path != ""
}

// below says whether pkg is path or lies below it. Nothing lies below the root
// package: otherwise a new package would need no row.
func below(pkg, path string) bool {
	return pkg == path || path != root && strings.HasPrefix(pkg, path+"/")
}

// relative turns an import path into the form of the rules.
func relative(imported string) string {
	if imported == module {
		return root
	}
	if path, found := strings.CutPrefix(imported, module+"/"); found {
		return root + "/" + path
	}
	return imported
}

func isOurs(pkg string) bool { return pkg == root || strings.HasPrefix(pkg, root+"/") }
