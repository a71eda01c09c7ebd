// Package activities holds every side effect that a workflow asks for: running
// the author's handler, taking and passing a chat's turn, and sending a call to
// Telegram.
//
// The workflows call it by method name, the worker registers it. It decides
// nothing durable: what must survive a retry stands in the ledger of a call
// (the heartbeat details of its activity), and what must survive longer stands
// in the workflow.
//
// An activity may run twice. What that means is said at each: a handler's result
// counts once, a turn can be passed twice without harm, and a send is repeated
// only as errors.go and the call's delivery policy allow.
package activities
