package cli_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
)

func setup(t *testing.T, f *fakeTemporal) console {
	t.Helper()
	return run(t.Context(), map[string]string{"TEMPORAL_ADDRESS": f.start(t)}, "setup")
}

func TestSetupLeavesWhatIsEnough(t *testing.T) {
	t.Parallel()
	c := setup(t, &fakeTemporal{retention: 30 * 24 * time.Hour, attributes: registered(), denied: true})
	require.Zero(t, c.code, c.errout)
	require.Contains(t, c.out, "retention: 720h, nothing to do\n")
	require.Contains(t, c.out, "search attributes: all there, nothing to do\n")
}

func TestSetupWithoutPermissionNamesTheWayAround(t *testing.T) {
	t.Parallel()
	c := setup(t, &fakeTemporal{retention: 24 * time.Hour, denied: true})
	require.Equal(t, 1, c.code)
	require.Equal(t, "durabot: no permission to raise the retention of namespace default: ask its administrator; "+
		"on Temporal Cloud use the Cloud UI or `tcld namespace retention set --namespace default --retention-days 7`\n", c.errout)

	c = setup(t, &fakeTemporal{retention: 24 * time.Hour})
	require.Equal(t, 1, c.code)
	require.Contains(t, c.out, "retention: raised from 24h to 168h\n")
	require.Contains(t, c.errout, "no permission to register the search attributes TgChat, TgKind, TgOutcome")
	require.Contains(t, c.errout, "`tcld namespace search-attributes add --namespace default --search-attribute TgChat=Keyword --search-attribute TgKind=Keyword ")
}

func TestAttributeOfAnotherTypeIsAProblem(t *testing.T) {
	t.Parallel()
	f := &fakeTemporal{retention: 168 * time.Hour, attributes: registered()}
	f.attributes["TgChat"] = enumspb.INDEXED_VALUE_TYPE_INT
	c := setup(t, f)
	require.Equal(t, 1, c.code)
	require.Equal(t, "durabot: search attribute TgChat is of type Int, want Keyword: remove what is there, then run `durabot setup` again\n", c.errout)
}
