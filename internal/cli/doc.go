// Package cli is the durabot command line: one file per noun, and serve.go,
// which runs a bot for the command line and for the author's own door alike.
//
// run and dev wait for a Temporal that comes late. All other verbs ask once, are
// bounded by seconds, and speak to Temporal alone: send has a message accepted
// there, and what only the process on duty knows is read from its heartbeat. Only
// doctor asks Telegram something, and it never polls; only what is told to --wait
// takes as long as its messages, and only --watch goes on until it is interrupted.
// What people wrote, or are sent, is shown by --payload alone, and on the terminal
// of who is asked whether to send it to many.
//
// A verb that acts on many says how many, and asks; --yes is the answer where
// nobody can be asked. Only `chat erase` deletes.
//
// An error is printed once, here, as one line that says what was expected, what
// was found and what to do. Exit codes: 0 done, 1 failed, 2 wrong usage.
package cli
