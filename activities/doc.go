// Package activities holds every side effect that a workflow asks for: running
// the author's handler, taking and passing a chat's turn, sending a call to
// Telegram, and holding the duty, which is the right to send at all.
//
// The workflows call it by method name, the worker registers it. It decides
// nothing durable: what must survive a retry stands in the ledger of a call or in
// the heartbeat of a term on duty (the heartbeat details of their activities),
// and what must survive longer stands in the workflow.
//
// A call goes one way: what is known of its chat (chats.go), the wait for the
// budget (budget.go), the lease of the duty (lease.go), the request (send.go).
// Its end is judged in errors.go, the one door: it is delivered, final, or
// delayed (delay.go). Before that it may be made once more: for a chat that moved
// (moved.go), or without markup that Telegram cannot parse (plain.go). Whether a
// failure is the call's own or an outage's is the road's to say (road.go).
//
// An activity may run twice. What that means is said at each: a handler's result
// counts once, a turn can be passed twice without harm, a send is repeated only
// as errors.go and the call's delivery policy allow, how a message ended is only
// read, a text is cut in the same places, and of two holders of the duty the older
// may start no request when the newer begins.
package activities
