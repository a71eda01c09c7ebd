// Package cli is the durabot command line: one file per noun, and serve.go,
// which runs a bot for the command line and for the author's own door alike.
//
// run and dev wait for a Temporal that comes late. All other verbs ask once, are
// bounded by seconds, and speak to Temporal alone: send has a message accepted
// there, and what only the process on duty knows is read from its heartbeat. Only
// doctor asks Telegram something, and it never polls; only send --wait takes as
// long as its message. What people wrote to a bot is shown by `update show
// --payload`, what is sent to them by nothing.
//
// An error is printed once, here, as one line that says what was expected, what
// was found and what to do. Exit codes: 0 done, 1 failed, 2 wrong usage.
package cli
