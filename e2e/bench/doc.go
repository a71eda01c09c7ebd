// Command bench measures durabot as its users run it: a bot process, a real
// Temporal dev server with a database file, and the simulator in a process of its
// own, whose answers take 40 ms. It prints a table, or JSON with -o json; every
// figure is the median of the runs.
//
// What it counts, it counts at the simulator: an update's time runs from the
// moment it is written there to the moment its reply arrives there. Where limits
// are measured, the simulator enforces them: 30 counted calls in any second, 3 in
// 3 s for a private chat, 20 in 60 s for a group, and penalties that double when
// they are ignored.
package main
