// Command devserver prints the path of a Temporal dev server, building it into
// bin/ first when this machine has none. `make test` runs it before anything
// that needs a server, so that the minutes of a first build are seen and are
// not charged to a test's timeout.
package main
