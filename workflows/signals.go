package workflows

import "go.temporal.io/sdk/workflow"

// received empties a channel of signals. Each is decoded into a value of its
// own; one that does not decode is passed over by the SDK, which logs it.
func received[T any](c workflow.ReceiveChannel) []T {
	var all []T
	for {
		var v T
		if !c.ReceiveAsync(&v) {
			return all
		}
		all = append(all, v)
	}
}
