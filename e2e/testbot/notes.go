package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/durabot/durabot"
)

// note adds an update to the file that HANDLED names, by which tests count runs.
func note(u durabot.Update) error {
	name := os.Getenv("HANDLED")
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // the test's own file
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, u.ID)
	return errors.Join(err, f.Close())
}

// firstRun reports whether this is the only run for an update that was noted, in
// whichever process.
func firstRun(u durabot.Update) (bool, error) {
	data, err := os.ReadFile(os.Getenv("HANDLED")) //nolint:gosec // the test's own file
	if err != nil {
		return false, err
	}
	id, runs := strconv.FormatInt(u.ID, 10), bytes.Fields(data)
	runs = slices.DeleteFunc(runs, func(run []byte) bool { return string(run) != id })
	return len(runs) == 1, nil
}
