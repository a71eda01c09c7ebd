package workflows

// What the tests reach beside the exported names.
var (
	PriorityKey     = priorityKey
	SeparateSummary = separateSummary
)
