package text

// mark is how an entity begins and ends in MarkdownV2.
type mark struct{ opens, closes, kind string }

// marks are tried in this order: the longer of two that fit comes first.
var marks = []mark{
	{"__", "__", "underline"},
	{"_", "_", "italic"},
	{"*", "*", "bold"},
	{"~", "~", "strikethrough"},
	{"||", "||", "spoiler"},
	{"```", "```", "pre"},
	{"`", "`", "code"},
	{"![", "]", "custom_emoji"},
	{"[", "]", "text_link"},
}

const quotation = "blockquote"

// closing is the mark that ends a type of entity, "" for a block quotation, which
// has none.
func closing(kind string) string {
	for _, m := range marks {
		if m.kind == kind {
			return m.closes
		}
	}
	return ""
}

// special are the attributes of what ![…] may hold, a custom emoji or a time.
func special(address string) attributes {
	switch host, query := inside(address); host {
	case "emoji":
		return emoji(query.Get("id"))
	case "time":
		return moment(query.Get("unix"), query.Get("format"))
	default:
		return nil
	}
}
