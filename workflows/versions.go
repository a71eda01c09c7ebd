package workflows

import "go.temporal.io/sdk/workflow"

// A version names one change of what a workflow does. A workflow that was
// started before it goes on as before. A new one gets a sentence here and a
// recorded history; replay_test.go says how.
const (
	// cancelledKeepsPlace: an update that is cancelled while it waits for its turn
	// ends only when its predecessor is done. Before, those behind it could get
	// ahead of that one.
	cancelledKeepsPlace = "cancelled-keeps-place"
	// outcomeAttribute: what did not end as wished says so in TgOutcome.
	outcomeAttribute = "outcome-attribute"
	// deadLetters: what died for a reason that a person can act on leaves a dead
	// letter before it fails.
	deadLetters = "dead-letters"
	// threeParts: three parts of a broadcast go at a time. Before, there were two, of
	// which one was often at its end and left Telegram's time unused.
	threeParts = "three-parts"
	// takesBackKnowingly: a message that is cancelled between two attempts says
	// whether it may have arrived. Before, it ended cancelled as if none had left.
	takesBackKnowingly = "takes-back-knowingly"
	// countsLostTask: an update whose first workflow task was lost counts the attempt
	// of the handler that may have been lost with it, also when it has to wait for its
	// turn now. Before, such a handler could run four times.
	countsLostTask = "counts-lost-task"
)

// has reports whether the workflow runs with a change. It leaves a marker in the
// history, so it is asked only where the change makes a difference.
func has(ctx workflow.Context, change string) bool {
	return workflow.GetVersion(ctx, change, workflow.DefaultVersion, 1) == 1
}
