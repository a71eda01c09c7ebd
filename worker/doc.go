// Package worker puts a bot's process together: which queues it polls, what is
// registered on them, in which order things start and stop.
//
// The command line and the author's door call Run. Every process runs workflows
// and handlers (process). One of them holds the duty, the right to talk to
// Telegram for the bot; while it does it has a term: the budget, the senders, the
// poller.
//
// The order in which a process lets go matters and is this: no more updates, no
// more calls taken, no more grants; the workflows and handlers; the requests in
// the air, and with them the senders; the duty, with what a successor needs. So a call that was granted
// gets its answer stored, and one that was not goes back to the server with its
// place. A term that ends while its process goes on leaves out the second step.
package worker
