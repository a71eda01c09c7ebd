package text

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// tags are the elements that Telegram knows, and the types of entity they make.
var tags = map[string]string{
	"b": "bold", "strong": "bold",
	"i": "italic", "em": "italic",
	"u": "underline", "ins": "underline",
	"s": "strikethrough", "strike": "strikethrough", "del": "strikethrough",
	"tg-spoiler": "spoiler", "span": "spoiler",
	"code": "code", "pre": "pre",
	"blockquote": "blockquote",
	"a":          "text_link",
	"tg-emoji":   "custom_emoji",
	"tg-time":    "date_time",
}

// markup reads HTML as Telegram does.
type markup struct {
	builder

	at int // where the current token begins in the source
}

// parseHTML reads a text of parse_mode HTML.
func parseHTML(source string) (formatted, error) {
	m := &markup{}
	for tokens := html.NewTokenizer(strings.NewReader(source)); ; {
		next := tokens.Next()
		size := len(tokens.Raw())
		if next == html.ErrorToken && m.at == len(source) {
			f, err := m.result()
			f.entities = blocks(f.entities)
			return f, err
		}
		if err := m.token(next, tokens); err != nil {
			return formatted{}, err
		}
		m.at += size
	}
}

func (m *markup) token(next html.TokenType, tokens *html.Tokenizer) error {
	switch next {
	case html.TextToken:
		return m.words(string(tokens.Raw()))
	case html.StartTagToken:
		return m.start(tokens.Token())
	case html.EndTagToken, html.CommentToken: // </> is a comment to the tokenizer
		name, isEnd := strings.CutPrefix(string(tokens.Raw()), "</")
		name, whole := strings.CutSuffix(name, ">")
		if !isEnd || !whole {
			return m.wrong("this is no tag that Telegram knows")
		}
		return m.close(strings.ToLower(strings.TrimRight(name, " \t\r\n")))
	case html.ErrorToken:
		return m.wrong("a tag has no end")
	default:
		return m.wrong("this is no tag that Telegram knows")
	}
}

func (m *markup) wrong(what string) error { return &MarkupError{What: what, At: m.at} }

// words is a text between tags.
func (m *markup) words(raw string) error {
	if i := strings.IndexByte(raw, '<'); i >= 0 {
		return &MarkupError{What: "this is no tag, and its < is not escaped", At: m.at + i}
	}
	m.write(reference.ReplaceAllStringFunc(raw, dereference))
	return nil
}

// longestName is what Telegram reads of a character's number.
const longestName = 8

// reference is a character by its number or its name. Telegram wants no semicolon.
var reference = regexp.MustCompile(`&(#[0-9]+|#x[0-9a-fA-F]+|[a-zA-Z]+);?`)

var named = map[string]string{"lt": "<", "gt": ">", "amp": "&", "quot": `"`}

// dereference is the character that a reference means; one that Telegram does not
// know stands for itself.
func dereference(ref string) string {
	name := strings.TrimSuffix(ref[1:], ";")
	if name[0] != '#' {
		if c, ok := named[name]; ok {
			return c
		}
		return ref
	}
	digits, base := name[1:], 10
	if digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	if n, err := strconv.ParseUint(digits, base, 32); err == nil && n > 0 && n < 0x10ffff && len(name) <= longestName {
		return string(rune(n))
	}
	return ref
}

func (m *markup) start(tag html.Token) error {
	if tags[tag.Data] == "" {
		return m.wrong("this is no tag that Telegram knows")
	}
	a, ok := tagAttributes(tag)
	if !ok {
		return m.wrong("a tag lacks what it needs, or has it wrong")
	}
	m.begin(tag.Data, m.at, a)
	return nil
}

// tagAttributes is what a tag says of its entity, false if Telegram refuses it.
func tagAttributes(tag html.Token) (attributes, bool) {
	has := map[string]string{}
	for _, a := range tag.Attr {
		has[a.Key] = a.Val
	}
	a := kind(tags[tag.Data])
	switch tag.Data {
	case "span":
		return a, has["class"] == "tg-spoiler"
	case "code":
		if language, ok := strings.CutPrefix(has["class"], "language-"); ok && language != "" {
			a["language"] = encoded(language)
		}
	case "blockquote":
		if _, ok := has["expandable"]; ok {
			a = kind("expandable_blockquote")
		}
	case "a":
		return link(has["href"]), true
	case "tg-emoji":
		a = emoji(has["emoji-id"])
	case "tg-time":
		a = moment(has["unix"], has["format"])
	}
	return a, a != nil
}

// close ends what was begun last, whose name an end tag may leave out.
func (m *markup) close(tag string) error {
	top := m.top()
	if top == nil || tag != "" && top.name != tag {
		return m.wrong("an end tag does not match")
	}
	o := m.end()
	if o.name == "a" && o.attributes == nil {
		o.attributes = link(m.inner(o))
	}
	m.add(o, o.attributes)
	return nil
}

// blocks makes one entity of a pre and a code around the same text where the code
// names a language. Elsewhere a code has none.
func blocks(all []entity) []entity {
	type span struct{ offset, length int }
	pres := map[span]attributes{}
	for _, e := range all {
		if e.is("pre") {
			pres[span{e.offset, e.length}] = e.attributes
		}
	}
	return slices.DeleteFunc(all, func(e entity) bool {
		language, ok := e.attributes["language"]
		if !ok || !e.is("code") {
			return false
		}
		delete(e.attributes, "language")
		pre, ok := pres[span{e.offset, e.length}]
		if ok {
			pre["language"] = language
		}
		return ok
	})
}
