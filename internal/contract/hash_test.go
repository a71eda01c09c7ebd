package contract_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
)

func hash(t *testing.T, raw string) string {
	t.Helper()
	h, err := contract.CanonicalHash(json.RawMessage(raw))
	require.NoError(t, err)
	return h
}

func TestOrderSpaceAndEscapesDoNotChangeTheHash(t *testing.T) {
	t.Parallel()
	want := hash(t, `{"a":1,"b":{"c":[1,2,{"d":null}],"e":"é<&>"}}`)
	for _, same := range []string{
		`{"b":{"e":"é<&>","c":[1,2,{"d":null}]},"a":1}`,
		" {\n\t\"a\" : 1 , \"b\" : { \"c\":[ 1,2,{\"d\":null } ],\"e\":\"é<&>\" } }\r\n",
		`{"a":1,"b":{"c":[1,2,{"d":null}],"e":"\u00e9\u003c\u0026\u003e"}}`,
	} {
		require.Equal(t, want, hash(t, same), same)
	}
	require.Len(t, want, 64)
	require.Regexp(t, `^[0-9a-f]+$`, want)
}

func TestTheHashIsTheSHA256OfTheCanonicalText(t *testing.T) {
	t.Parallel()
	require.Equal(t, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", hash(t, ` { } `),
		"it is stored in memos, so it must never change")
}

func TestDifferentUpdatesHashDifferently(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, raw := range []string{
		`{"a":1}`, `{"a":1.0}`, `{"a":10e-1}`, `{"a":"1"}`, `{"a":[1]}`, `{"a":null}`, `{}`, `[]`, `null`,
		`{"a":9007199254740992}`, `{"a":9007199254740993}`, `{"a":123456789012345678901234567890}`,
		`{"a":[1,2]}`, `{"a":[2,1]}`, `{"a":" 1"}`, `{"A":1}`,
	} {
		h := hash(t, raw)
		require.NotContains(t, seen, h, "%s and %s", raw, seen[h])
		seen[h] = raw
	}
}

func TestWhatIsNotOneJSONValueHasNoHash(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{``, ` `, `{`, `{"a":}`, `<html>`, `{} {}`, `{}x`, `{"a":01}`, `{"a":"secret`} {
		_, err := contract.CanonicalHash(json.RawMessage(raw))
		require.ErrorContains(t, err, "canonical JSON: ", raw)
		require.NotContains(t, err.Error(), "secret")
	}
}

func FuzzEveryJSONValueAndNothingElseHasAHash(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":[1.0,"x"]}`, `null`, ` 5 `, `{} {}`, `{"a":1,"a":2}`, `"\ud800"`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		h, err := contract.CanonicalHash(raw)
		require.Equal(t, json.Valid(raw), err == nil)
		if err != nil {
			return
		}
		spaced, err := contract.CanonicalHash(append(append([]byte("\n "), raw...), '\t'))
		require.NoError(t, err)
		require.Equal(t, h, spaced)
	})
}
