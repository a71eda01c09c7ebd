// Package story tells how one update, or one message, went: what came, whom it
// waited for, what the handler decided and how each call ended. It reads this
// from the history of the workflow, which is the only record there is.
//
// The command line calls it (`durabot update show`, `durabot message show`). It
// asks nobody anything: what it is given is what it tells, so that a recorded
// history tells the same story for ever.
//
// It refuses to repeat what people wrote. No text of a message, no parameter of
// a call and no text of a handler's error is in a story; the errors of calls
// are Telegram's own.
package story
