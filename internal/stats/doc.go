// Package stats asks Temporal for the numbers that tell a bot's health: what
// waits, for how long, what died, and what the process on duty knows. The command
// line, the HTTP page, the metrics and the log show the same ones.
//
// It counts and never scans: a bot with 100,000 messages waiting answers as fast
// as one with none. It writes nothing.
package stats
