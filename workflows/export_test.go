package workflows

// What the tests reach beside the exported names.
var (
	Ended   = ended
	Fitting = fitting
)
