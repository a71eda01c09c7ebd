package cli_test

import "io"

// screen is a stream that a person looks at.
type screen struct{ safeBuffer }

// Console says so.
func (*screen) Console() bool { return true }

// typed is what a person types.
type typed struct{ io.Reader }

// Console says that there is one.
func (typed) Console() bool { return true }
