package text_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/text"
)

func decoded(t require.TestingT, raw []byte) map[string]any {
	var v map[string]any
	require.NoError(t, json.Unmarshal(raw, &v), "%s", raw)
	return v
}

// However a field looks, it stays text in the place where it was wanted.
func TestAFieldIsReadAsItselfAndChangesNothingAround(t *testing.T) {
	t.Parallel()
	awkward := rapid.StringOf(rapid.OneOf(rapid.SampledFrom([]rune("_*[]()~`>#+-=|{}.!\\<&;\"'\n\r😀{{.n}}")), rapid.Rune()))
	rapid.Check(t, func(t *rapid.T) {
		mode := rapid.SampledFrom([]string{"", "HTML", "MarkdownV2"}).Draw(t, "mode")
		value, around := awkward.Draw(t, "value"), rapid.StringMatching(`[a-z ]{0,5}`).Draw(t, "around")
		p := params{"n": 1 << 60, "media": []params{{"caption": around + "{{.v}}" + around, "parse_mode": mode}}, "text": "{{.v}}", "z": "<{>"}
		template, err := text.ParseTemplate(p.json(t))
		require.NoError(t, err)
		filled, err := template.Render(map[string]string{"v": value})
		require.NoError(t, err)
		got := decoded(t, filled)
		require.Equal(t, value, got["text"])
		media := got["media"].([]any)[0].(map[string]any)
		parse := map[string]reader{"HTML": text.ParseHTML, "MarkdownV2": text.ParseMarkdown}[mode]
		if parse == nil {
			parse = func(s string) (string, []text.Span, error) { return s, nil, nil }
		}
		caption, spans, err := parse(media["caption"].(string))
		require.NoError(t, err)
		require.Empty(t, spans)
		require.Equal(t, around+value+around, caption)
		delete(media, "caption")
		delete(got, "text")
		require.Equal(t, decoded(t, params{"n": 1 << 60, "media": []params{{"parse_mode": mode}}, "z": "<{>"}.json(t)), got)
	})
}

// endless are the words with which a template may take longer than a fuzzer waits.
var endless = regexp.MustCompile(`range|template|block|define|print`)

func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{
		`{"text":"{{.a}}","parse_mode":"HTML"}`, `{"a":[{"caption":"{{if .a}}{{.b}}{{else}}x{{end}}"}]}`, ` {"a":{"b":"{{`,
		`{"a":"{{/* */}}","a":"{{- .a -}}"}`, `{"media":"[{{.a}}]"}`, `{"x_parse_mode":"HTML","x":"{{with .a}}{{.}}{{end}}"}`, `[{"a":"{{.a}}"}]`,
	} {
		f.Add(seed, "<b>&\"\\")
	}
	f.Fuzz(func(t *testing.T, raw, value string) {
		if !utf8.ValidString(value) || strings.Contains(raw, `\u`) || endless.MatchString(raw) {
			return
		}
		template, err := text.ParseTemplate(json.RawMessage(raw))
		if err != nil {
			return
		}
		require.True(t, json.Valid([]byte(raw)))
		filled, err := template.Render(map[string]string{"a": value, "b": value})
		if err != nil {
			require.NotContains(t, err.Error(), "template: ", "quoted")
			return
		}
		require.True(t, json.Valid(filled), "%s", filled)
		require.Len(t, decoded(t, filled), len(decoded(t, []byte(raw))))
		if !strings.Contains(raw, "{{") {
			require.Equal(t, raw, string(filled))
		}
	})
}
