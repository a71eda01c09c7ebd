// Command bench measures durabot as its users run it: a bot process, a real
// Temporal dev server with a database file, and the simulator, whose answers
// take 40 ms. It prints a table, or JSON with -o json; every figure is the
// median of the runs.
//
// What it counts, it counts at the simulator: an update's time runs from the
// moment it is queued there to the moment its reply arrives there.
package main
