package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryScriptSaysWhatItIsAbout(t *testing.T) {
	t.Parallel()
	all := scripts(t)
	require.NotEmpty(t, all)
	for name, text := range all {
		require.Regexp(t, `^# \S.*\.\n`, text, "%s starts without a sentence", name)
	}
}
