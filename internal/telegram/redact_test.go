package telegram_test

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/telegram"
)

// requireNoSecret is the leak check of this package: no form of the secret may be
// in text.
func requireNoSecret(tb testing.TB, text string) {
	tb.Helper()
	for _, form := range telegram.HiddenForms(testToken(tb)) {
		require.NotContains(tb, text, form)
	}
	require.NotContains(tb, strings.ToLower(text), strings.ToLower(secret))
	require.NotContains(tb, text, "4242%3A"+secret)
	require.NotContains(tb, text, "34323432", "hex of the bot id: a verb reached the bytes")
}

func TestRedactReplacesEveryForm(t *testing.T) {
	t.Parallel()
	token := testToken(t)
	whole := "4242:" + secret
	for name, text := range map[string]string{
		"token":           "POST /bot" + whole + "/sendMessage",
		"secret half":     "x " + secret + " y",
		"query escaped":   "t=" + url.QueryEscape(whole),
		"path escaped":    "/bot" + url.PathEscape(whole) + "/getMe",
		"fully escaped":   strings.NewReplacer("-", "%2D", "_", "%5F", ":", "%3A").Replace(whole),
		"twice":           whole + " and " + whole,
		"quoted":          `"` + whole + `"`,
		"inside a word":   "abc" + whole + "def",
		"base64 standard": base64.StdEncoding.EncodeToString([]byte(whole)),
		"base64 of URL":   base64.URLEncoding.EncodeToString([]byte("/bot" + whole + "/getMe")),
		"base64 of half":  base64.RawStdEncoding.EncodeToString([]byte(secret)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redacted := token.Redact(text)
			require.Contains(t, redacted, "[redacted]")
			requireNoSecret(t, redacted)
			require.NotContains(t, redacted, secret[:len(secret)-4], "only the end went")
		})
	}
	require.Equal(t, "/bot4242:[redacted]/getMe", token.Redact("/bot"+whole+"/getMe"))
}

func TestRedactLeavesOtherTextAlone(t *testing.T) {
	t.Parallel()
	text := "Bad Request: chat not found 4242 AAF kdqz https://api.telegram.org/"
	require.Equal(t, text, testToken(t).Redact(text))
}

func TestRedactFindsTheTokenAtAnyAlignment(t *testing.T) {
	t.Parallel()
	token := testToken(t)
	rapid.Check(t, func(r *rapid.T) {
		before := rapid.SliceOf(rapid.Byte()).Draw(r, "before")
		after := rapid.SliceOf(rapid.Byte()).Draw(r, "after")
		plain := append(append(before, "4242:"+secret...), after...)
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
			redacted := token.Redact(enc.EncodeToString(plain))
			if !strings.Contains(redacted, "[redacted]") {
				r.Fatalf("not found in %q", redacted)
			}
		}
		if strings.Contains(token.Redact(string(plain)), secret) {
			r.Fatal("secret left in plain text")
		}
	})
}
