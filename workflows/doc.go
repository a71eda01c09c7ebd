// Package workflows holds what must be durable and nothing else: the story of
// an update (UpdateWorkflow) and of a message (MessageWorkflow), what is left to
// do of one that died (DeadLetterWorkflow), a call to many chats
// (BroadcastWorkflow, BroadcastPartWorkflow), what is exceptional about a chat
// (ChatWorkflow), and which process talks to Telegram for a bot (DutyWorkflow).
//
// The starter starts them, the worker registers them, and every side effect they
// ask for is in the activities package. They are deterministic: no clock but
// workflow.Now, no I/O, no map order, no setting that is not in their input.
//
// A change in what a workflow does is a named version (versions.go) with a
// recorded history in testdata/histories, which the replay test runs against
// the code of today.
package workflows
