// Package worker puts a bot's process together: which queues it polls, what is
// registered on them, in which order things start and stop.
//
// The command line and the author's door call Run. The order of a stop matters
// and is this: no more updates and no more grants; the workflows and handlers;
// the requests in the air; the senders. So a call that was granted gets its
// answer stored, and one that was not goes back to the server with its place.
package worker
