package contract_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/contract"
)

// object draws a compact JSON object with keys in any order, and numbers of any
// size and spelling.
func object(t *rapid.T, depth int) string {
	text := "{"
	for i := range rapid.IntRange(0, 4).Draw(t, "fields") {
		if i > 0 {
			text += ","
		}
		text += `"` + rapid.StringMatching(`[a-z_]{1,8}`).Draw(t, "key") + `":` + value(t, depth)
	}
	return text + "}"
}

func value(t *rapid.T, depth int) string {
	kinds := 4
	if depth > 0 {
		kinds = 6
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.StringMatching(`-?[1-9][0-9]{0,30}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?`).Draw(t, "number")
	case 1:
		return `"` + rapid.StringMatching(`[ a-zA-Z0-9äé語😀/]{0,10}`).Draw(t, "text") + `"`
	case 2:
		return rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "word")
	case 3:
		return "[]"
	case 4:
		return object(t, depth-1)
	default:
		return "[" + value(t, depth-1) + "," + value(t, depth-1) + "]"
	}
}

func drawCall(t *rapid.T) (contract.Call, string) {
	params := object(t, 3)
	return contract.Call{
		Method:      rapid.StringMatching(`[a-z][A-Za-z0-9]{0,20}`).Draw(t, "method"),
		Params:      json.RawMessage(params),
		Priority:    rapid.SampledFrom([]contract.Priority{"", contract.Urgent, contract.Normal, contract.Bulk}).Draw(t, "priority"),
		Delivery:    rapid.SampledFrom([]contract.Delivery{"", contract.AtLeastOnce, contract.AtMostOnce}).Draw(t, "delivery"),
		TTL:         time.Duration(rapid.Int64Range(0, 1<<60).Draw(t, "ttl")),
		Key:         rapid.StringMatching(`[a-z0-9-]{0,10}`).Draw(t, "key"),
		At:          time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "at"), 0).UTC(),
		Independent: rapid.Bool().Draw(t, "independent"),
	}, params
}

func TestHoweverOftenACallCrossesTheWireItIsTheSameCall(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		call, params := drawCall(t)
		hop := call
		for range rapid.IntRange(1, 4).Draw(t, "hops") {
			data, err := json.Marshal(contract.SendInput{Call: hop})
			require.NoError(t, err)
			var in contract.SendInput
			require.NoError(t, json.Unmarshal(data, &in))
			hop = in.Call
			requireBytes(t, params, hop.Params)
		}
		require.Equal(t, call, hop)
	})
}

func TestSealingChangesNothingButTheForm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		call, params := drawCall(t)
		sealed, err := call.Seal()
		if err != nil {
			require.ErrorIs(t, err, contract.ErrNoChat)
			return
		}
		requireBytes(t, params, sealed.Params)
		require.Equal(t, call, sealed)
	})
}

func TestTheSameObjectInAnyOrderHashesAlike(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := value(t, 3), value(t, 3)
		one, err := contract.CanonicalHash(json.RawMessage(`{"a":` + a + `,"b":` + b + `}`))
		require.NoError(t, err)
		other, err := contract.CanonicalHash(json.RawMessage("{ \"b\" :\n" + b + ",\t\"a\": " + a + "}"))
		require.NoError(t, err)
		require.Equal(t, one, other)
	})
}
