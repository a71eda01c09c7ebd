// Package e2e proves the guarantees of the README on the real thing: bots as
// processes of their own, which are killed and frozen, a real Temporal dev
// server, and the Telegram simulator. There is one file for each guarantee.
//
// What happened is read from the simulator's ledger and request log, never from
// durabot's own counters.
package e2e
