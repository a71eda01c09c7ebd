package workflows

// There is no named version yet: the histories in testdata/histories are of the
// first one. The next change of behaviour adds a constant here with a sentence
// on what it changes, asks for it with workflow.GetVersion, and records a new
// history; replay_test.go says how.
