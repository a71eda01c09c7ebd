// Package layout holds no code, only the test that keeps the packages of
// durabot apart: which of them may import which (rules_test.go), and that each
// one says in a doc.go what it owns.
//
// It is the whole truth about the layout; the depguard rules in .golangci.yml
// repeat the bans for editors. A new package needs a row in the table before
// anything may import it, and a new import between packages needs a reason
// there. It refuses exceptions for a single file.
package layout
