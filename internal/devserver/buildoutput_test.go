package devserver

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestBuildStateFollowsTheOutput(t *testing.T) {
	t.Parallel()
	o := &buildOutput{}
	require.Equal(t, "starting", o.state())
	write(t, o, "go: downloading a v1\ngo: downloading b v1\n")
	require.Equal(t, "2 modules downloaded", o.state())
	write(t, o, "a/b\nc\nd")
	require.Equal(t, "2 packages compiled", o.state(), "an unfinished line does not count yet")
}

func TestOnlyTheLastComplaintsAreKept(t *testing.T) {
	t.Parallel()
	o := &buildOutput{}
	write(t, o, strings.Repeat("an old problem\n", 20)+"\n# pkg\nx.go:1: a\nx.go:2: b\nother/package\nx.go:3: c\nx.go:4: cut of")
	require.Equal(t, []string{"# pkg", "x.go:1: a", "x.go:2: b", "x.go:3: c", "x.go:4: cut of"}, o.complaints())
}

func TestOutputMeansTheSameHoweverItIsCut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("go: downloading\nx y\t"))).Draw(t, "text")
		cut := rapid.IntRange(0, len(text)).Draw(t, "cut")
		whole, pieces := &buildOutput{}, &buildOutput{}
		write(t, whole, text)
		write(t, pieces, text[:cut])
		write(t, pieces, text[cut:])
		require.Equal(t, whole.state(), pieces.state())
		require.Equal(t, whole.complaints(), pieces.complaints())
	})
}

func FuzzBuildOutput(f *testing.F) {
	f.Add("go: downloading a v1\na/b\n# a/b\na.go:1:2: wrong")
	f.Add("\n\r\n \x00\xff")
	f.Fuzz(func(t *testing.T, text string) {
		o := &buildOutput{}
		write(t, o, text)
		complaints := o.complaints()
		require.LessOrEqual(t, len(complaints), complaintLines)
		for _, line := range complaints {
			require.NotContains(t, line, "\n", "an error stays one line")
		}
	})
}

func write(t require.TestingT, o *buildOutput, text string) {
	n, err := o.Write([]byte(text))
	require.NoError(t, err)
	require.Equal(t, len(text), n)
}
