package telegram

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// minBase64Core is the shortest piece of base64 worth looking for: a shorter one
// turns up by chance in ordinary text.
const minBase64Core = 6

// userInfo matches the "user:password@" part of a URL. A faulty proxy setting
// ends up, password included, in the text of net/http errors.
var userInfo = regexp.MustCompile(`//[^/\s@]+@`)

// secretForms lists what Redact looks for, longest first, so that a whole form
// goes before a part of it.
func secretForms(token, secret string) []string {
	forms := []string{secret, url.QueryEscape(secret), escapeAll(secret)}
	for _, plain := range []string{token, secret} {
		forms = append(forms, base64Forms(base64.RawStdEncoding, plain)...)
		forms = append(forms, base64Forms(base64.RawURLEncoding, plain)...)
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(forms)
}

// escapeAll percent-escapes the two characters of the alphabet that some
// encoders escape although they need not.
func escapeAll(s string) string {
	return strings.NewReplacer("-", "%2D", "_", "%5F").Replace(s)
}

// base64Forms returns the characters that s causes in any base64 text it is part
// of. They depend on the position of s modulo 3; the characters at either end
// also depend on the neighbours and are left out.
func base64Forms(enc *base64.Encoding, s string) []string {
	var forms []string
	for shift := range 3 {
		text := enc.EncodeToString([]byte(strings.Repeat("\x00", shift) + s))
		first := (shift*8 + 5) / 6
		last := (shift + len(s)) * 8 / 6
		if core := text[first:last]; len(core) >= minBase64Core {
			forms = append(forms, core)
		}
	}
	return forms
}

// scrub makes outside text fit for an error: without token and URL credentials,
// on one line, printable, and at most limit characters. It redacts after it drops
// broken bytes, which could split a token, and before it cuts, which would leave
// half of one at the edge.
func (t Token) scrub(text string, limit int) string {
	text = t.Redact(strings.ToValidUTF8(text, ""))
	text = userInfo.ReplaceAllString(text, "//"+placeholder+"@")
	var b strings.Builder
	count, space := 0, false
	for _, r := range text {
		if !unicode.IsPrint(r) || r == ' ' {
			space = count > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			count, space = count+1, false
		}
		if count >= limit {
			break
		}
		b.WriteRune(r)
		count++
	}
	return strings.TrimRight(b.String(), " ")
}
