package text_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/text"
)

type fields = map[string]string

func render(t *testing.T, params string, f fields) string {
	t.Helper()
	template, err := text.ParseTemplate(json.RawMessage(params))
	require.NoError(t, err)
	filled, err := template.Render(f)
	require.NoError(t, err)
	return string(filled)
}

func TestEveryStringWithAPlaceIsFilledInAndNothingElseChanges(t *testing.T) {
	t.Parallel()
	const params = ` { "text" : "Hi {{.name}}!" ,"n": 123456789012345678901, "f":1.50,"{{.name}}":"as <it> is",
		"reply_markup":{"inline_keyboard":[[{"text":"{{.name}}","url":"https://x.example/?u={{.id}}\u0026a=1"},{"text":"no"}]]},"x":null }`
	require.Equal(t, strings.NewReplacer(
		"Hi {{.name}}!", `Hi Ann \"A\" <b>!`, `"text":"{{.name}}"`, `"text":"Ann \"A\" <b>"`, `{{.id}}\u0026`, "7&",
	).Replace(params), render(t, params, fields{"name": `Ann "A" <b>`, "id": "7", "unused": "x"}))
}

func TestAPlaceThatIsWrittenWithEscapesIsOne(t *testing.T) {
	t.Parallel()
	require.JSONEq(t, `{"text":"7"}`, render(t, `{"text":"\u007b\u007b.id}}"}`, fields{"id": "7"}))
}

func TestWithoutPlacesTheParametersAreAsTheyWere(t *testing.T) {
	t.Parallel()
	for _, params := range []string{`{}`, ` {"a" : [1, {"b":"{ {x} }"}]} `, `{"a":"}}"}`} {
		require.Equal(t, params, render(t, params, nil))
	}
}

func TestWhatIsFilledInIsEscapedForTheParseModeOfItsText(t *testing.T) {
	t.Parallel()
	const value = "<A&B> *x*_[y]`."
	html, v2, old := text.EscapeHTML(value), text.EscapeMarkdown(value), "<A&B> \\*x\\*\\_\\[y]\\`."
	for params, want := range map[string]string{
		`{"text":"<b>{{.v}}</b>","parse_mode":"HTML"}`:                                   `<b>` + html + `</b>`,
		`{"parse_mode":"html","caption":"{{.v}}"}`:                                       html,
		`{"text":"*{{.v}}*","parse_mode":"markdownV2"}`:                                  `*` + v2 + `*`,
		`{"text":"{{.v}}","parse_mode":"Markdown"}`:                                      old,
		`{"text":"{{.v}}"}`:                                                              value,
		`{"text":"{{.v}}","parse_mode":"none"}`:                                          value,
		`{"text":"{{.v}}","parse_mode":null}`:                                            value,
		`{"text":"{{.v}}","parse_mode":""}`:                                              value,
		`{"title":"{{.v}}","parse_mode":"HTML"}`:                                         value,
		`{"question":"{{.v}}","question_parse_mode":"HTML"}`:                             html,
		`{"question":"{{.v}}","parse_mode":"HTML"}`:                                      value,
		`{"caption":"{{.v}}","caption_parse_mode":"HTML"}`:                               html,
		`{"media":[{"caption":"{{.v}}","parse_mode":"HTML"}],"parse_mode":"MarkdownV2"}`: html,
		`{"media":[{"parse_mode":"HTML"},{"caption":"{{.v}}"}],"parse_mode":"HTML"}`:     value,
		`{"options":[{"text":"{{.v}}","text_parse_mode":"MarkdownV2"}]}`:                 v2,
		`{"parse_mode":"HTML","reply_markup":{"inline_keyboard":[[{"text":"{{.v}}"}]]}}`: value,
	} {
		require.Contains(t, render(t, params, fields{"v": value}), string(quoted(t, want)), params)
	}
}

func quoted(t *testing.T, s string) []byte {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(s))
	return []byte(strings.TrimSpace(b.String()))
}

func TestFunctionsAndComparisonsSeeFieldsAsTheyAre(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`{{len .v}}`:                                        "3",
		`{{if eq .v \"<&>\"}}y{{end}}`:                      "y",
		`{{slice .v 0 1}}`:                                  "&lt;",
		`{{.v | printf \"%s!\"}}`:                           "&lt;&amp;&gt;!",
		`{{$x := .v}}{{$x}}`:                                "&lt;&amp;&gt;",
		`{{with .v}}{{.}}{{end}}`:                           "&lt;&amp;&gt;",
		`{{if .no}}{{else}}{{.v}}{{end}}`:                   "&lt;&amp;&gt;",
		`{{range .}}{{.}}{{end}}<i>`:                        "&lt;&amp;&gt;<i>",
		`{{define \"a\"}}{{.}}{{end}}{{template \"a\" .v}}`: "&lt;&amp;&gt;",
		`{{or .no \"<\"}}`:                                  "&lt;",
		`{{or (index . \"none\") \"you\"}}`:                 "you",
	} {
		got := render(t, `{"text":"`+source+`","parse_mode":"HTML"}`, fields{"v": "<&>", "no": ""})
		require.Equal(t, `{"text":"`+want+`","parse_mode":"HTML"}`, got, source)
	}
}

func TestAMissingFieldIsNamed(t *testing.T) {
	t.Parallel()
	for _, f := range []fields{nil, {}, {"Name": "SECRET"}} {
		template, err := text.ParseTemplate(json.RawMessage(`{"text":"SECRET {{.name}}"}`))
		require.NoError(t, err)
		_, err = template.Render(f)
		require.EqualError(t, err, "text: the field name is missing")
	}
}

func TestErrorsOfTemplatesNameTheParameterAndQuoteNothing(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]string{
		`[]`:                           "the parameters are no JSON object",
		`null`:                         "the parameters are no JSON object",
		``:                             "the parameters are no JSON object",
		`{"text":"SECRET {{name}}"}`:   "text: line 1 of the template cannot be read: a place is written {{.name}}, with a dot",
		`{"text":"SECRET\n{{.SECRET"}`: "text: line 2 of the template cannot be read: a place is written {{.name}}, with a dot",
		`{"m":[{"caption":"x"},{"caption":"{{SECRET \"}}"}]}`:          "m.1.caption: line 1 of the template cannot be read: a place is written {{.name}}, with a dot",
		`{"parse_mode":"{{.SECRET}}"}`:                                 "parse_mode: it must be the same for all, so no template can be in it",
		`{"text":"\ud800 {{.SECRET}}"}`:                                "text: the text is not valid UTF-8",
		`{"media":" [{\"media\":\"SECRET\",\"caption\":\"{{.x}}\"}]"}`: "media: here JSON is in a string, in which a field could become more than text: write it without the quotes",
	} {
		_, err := text.ParseTemplate(json.RawMessage(params))
		require.EqualError(t, err, want, params)
	}
	for params, want := range map[string]string{
		`{"text":"\n{{index .SECRET 99}}"}`:         "text: the template cannot be filled in, see its line 2",
		`{"text":"{{.SECRET.x}}"}`:                  "text: the template cannot be filled in, see its line 1",
		`{"text":"{{slice .SECRET 5 \"SECRET\"}}"}`: "text: the template cannot be filled in, see its line 1",
	} {
		template, err := text.ParseTemplate(json.RawMessage(params))
		require.NoError(t, err)
		_, err = template.Render(fields{"SECRET": "SECRET"})
		require.EqualError(t, err, want)
	}
}

func TestOneTemplateIsRenderedByManyAtOnce(t *testing.T) {
	t.Parallel()
	template, err := text.ParseTemplate(json.RawMessage(`{"text":"{{.a}}{{.b}}","parse_mode":"HTML"}`))
	require.NoError(t, err)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				filled, err := template.Render(fields{"a": "<", "b": "x"})
				require.NoError(t, err)
				require.JSONEq(t, `{"text":"&lt;x","parse_mode":"HTML"}`, string(filled))
			}
		})
	}
	all.Wait()
}

func BenchmarkRender(b *testing.B) {
	template, err := text.ParseTemplate(json.RawMessage(`{"text":"Dear {{.name}}, your order {{.order}} is here","parse_mode":"HTML","reply_markup":{"inline_keyboard":[[{"text":"{{.name}}","url":"https://x.example"}]]}}`))
	require.NoError(b, err)
	for b.Loop() {
		_, err = template.Render(fields{"name": "Ann & Bob", "order": "17"})
	}
	require.NoError(b, err)
}
