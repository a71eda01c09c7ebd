// Package check holds the tests of what is in deploy: that the files are what
// the programs that read them take, that they name flags, variables, paths and
// metrics that durabot has, and that they keep the promises of deploy/README.md.
//
// It is a module of its own, so that the parsers of others are no dependency of
// durabot's. There is no container engine in it: an image is made and run as far
// as that goes with a root directory and another user.
package check
