// Package cli is the durabot command line: one file per noun, and serve.go,
// which runs a bot for the command line and for the author's own door alike.
//
// run and dev wait for a Temporal that comes late. The verbs that only look or
// prepare (setup, doctor, update) ask once, are bounded by seconds, and speak to
// Temporal alone; only doctor asks Telegram something, and it never polls. What
// people wrote to a bot is shown by `update show --payload` and by nothing else.
//
// An error is printed once, here, as one line that says what was expected, what
// was found and what to do. Exit codes: 0 done, 1 failed, 2 wrong usage.
package cli
