package telegram_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/durabot/durabot/internal/telegram"
)

func TestParseTokenTakesATokenFileAsItIs(t *testing.T) {
	t.Parallel()
	token, err := telegram.ParseToken(" \t4242:" + secret + "\r\n")
	require.NoError(t, err)
	require.Equal(t, botID, token.BotID())
	require.Equal(t, "4242:"+secret, token.Reveal())
}

func TestParseTokenRefusesWithoutQuoting(t *testing.T) {
	t.Parallel()
	for name, input := range map[string]string{
		"empty":             "",
		"no colon":          "4242" + secret,
		"no id":             ":" + secret,
		"id zero":           "0:" + secret,
		"leading zero":      "042:" + secret,
		"negative id":       "-42:" + secret,
		"id above int64":    "9999999999999999999:" + secret,
		"no secret":         "4242:",
		"short secret":      "4242:abc",
		"slash":             "4242:" + secret + "/x",
		"space inside":      "4242: " + secret,
		"second colon":      "4242:" + secret + ":x",
		"query":             "4242:" + secret + "?x",
		"newline inside":    "4242:" + secret + "\nX",
		"curly brackets":    "4242:{" + secret + "}",
		"not ASCII":         "4242:" + secret + "é",
		"longer than any":   "4242:" + strings.Repeat(secret, 5),
		"URL instead":       "https://api.telegram.org/bot4242:" + secret,
		"swapped sides":     secret + ":4242",
		"full-width digits": "４２:" + secret,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			token, err := telegram.ParseToken(input)
			require.ErrorContains(t, err, "expected")
			require.NotContains(t, err.Error(), secret)
			require.Zero(t, token)
		})
	}
}

func TestTokenPrintsItsIDAndNeverItsSecret(t *testing.T) {
	t.Parallel()
	token := testToken(t)
	inside := struct {
		public  telegram.Token
		pointer *telegram.Token
	}{token, &token}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%p", "%10.3s"} {
		for _, value := range []any{token, &token, inside, &inside, []telegram.Token{token}, map[telegram.Token]int{token: 1}} {
			requireNoSecret(t, fmt.Sprintf(verb, value))
		}
	}
	require.Equal(t, "4242:[redacted]", fmt.Sprint(token))
	require.Equal(t, "4242:[redacted]", fmt.Sprintf("%#v", token))
	require.Equal(t, "4242:[redacted]", token.String())
	require.Equal(t, "4242:[redacted]", token.GoString())
}

func TestTokenMarshalsRedacted(t *testing.T) {
	t.Parallel()
	token := testToken(t)
	value, err := json.Marshal(map[string]any{"t": token, "p": &token})
	require.NoError(t, err)
	require.JSONEq(t, `{"t":"4242:[redacted]","p":"4242:[redacted]"}`, string(value))

	key, err := json.Marshal(map[telegram.Token]int{token: 1})
	require.NoError(t, err)
	require.JSONEq(t, `{"4242:[redacted]":1}`, string(key))

	text, err := yaml.Marshal(map[string]any{"t": token})
	require.NoError(t, err)
	require.Contains(t, string(text), "4242:[redacted]")
	requireNoSecret(t, string(text))
}

func TestTokenLogsRedacted(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	slog.New(slog.NewJSONHandler(&text, nil)).Info("start", "token", testToken(t))
	slog.New(slog.NewTextHandler(&text, nil)).Info("start", "token", testToken(t))
	require.Equal(t, 2, strings.Count(text.String(), "4242:[redacted]"))
	require.Equal(t, "4242:[redacted]", testToken(t).LogValue().String())
}

func TestZeroTokenWorksAndRedactsNothing(t *testing.T) {
	t.Parallel()
	var zero telegram.Token
	require.Zero(t, zero.BotID())
	require.Empty(t, zero.Reveal())
	require.Equal(t, "[no token]", fmt.Sprintf("%v", zero))
	require.Equal(t, "any 4242:"+secret, zero.Redact("any 4242:"+secret))
	text, err := json.Marshal(zero)
	require.NoError(t, err)
	require.JSONEq(t, `"[no token]"`, string(text))
}

func FuzzParseToken(f *testing.F) {
	f.Add("4242:" + secret + "\n")
	f.Add("1:abcd")
	f.Add("1:ab/d")
	f.Add("")
	f.Fuzz(func(t *testing.T, input string) {
		token, err := telegram.ParseToken(input)
		if err != nil {
			require.Zero(t, token)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.Equal(t, strings.TrimSpace(input), token.Reveal())
		require.True(t, strings.HasPrefix(token.Reveal(), fmt.Sprint(token.BotID())+":"))
		require.Positive(t, token.BotID())
		require.NotContains(t, token.Redact("x "+input+" y"), strings.SplitN(token.Reveal(), ":", 2)[1]+" ")
	})
}
