// Package devserver owns the Temporal server that durabot runs on a developer's
// machine: it finds the `temporal` binary (or builds it once), starts it as a
// child process with settings that suit durabot, and stops it again.
//
// `durabot dev`, the end-to-end tests and the benchmark call it. What they may
// rely on:
//
//   - A [Server] that [Start] returned is usable at once: its frontend answers,
//     the namespace "default" accepts queries, closed workflows are kept for
//     [Options.Retention], and the search attributes are registered.
//   - The server never outlives this process, not even after a kill -9 (on
//     Linux), and an interrupt typed on the terminal does not reach it before
//     its owner decides to stop it.
//   - Neither a build nor a start that was cut short leaves something behind
//     that a later one would mistake for whole.
//
// It refuses to be a production server: it listens on loopback unless told
// otherwise, has no authentication, and never connects to a Temporal that it
// did not start itself. It knows nothing of Telegram and imports nothing else
// of durabot.
package devserver
