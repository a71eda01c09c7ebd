package telegram

import "strings"

// Method is what a sender must know of a Bot API method before calling it.
type Method struct {
	// Name is the spelling of the documentation; the server itself ignores case.
	Name string
	// Counts says that a call spends the budget of its chat and of the bot: it
	// sends, edits, forwards, copies or shows "typing".
	Counts bool
	// Repeatable says that doing it twice leaves what doing it once leaves, so a
	// lost answer is no reason to ask a person.
	Repeatable bool
	// Transient says that it is pointless when late: drop it, never queue it.
	Transient bool
	// Answer says that it is bound to a query id, which makes it take effect at
	// most once and only for some seconds.
	Answer bool
	// Read says that it changes nothing at Telegram. getUpdates is one although it
	// confirms: asking again with the same offset does no harm.
	Read bool
	// Payable says that allow_paid_broadcast lets a call leave beyond the free rate
	// of the bot, for Stars.
	Payable bool
}

// Lookup finds method in any case. A method this table does not know is judged by
// its first word, and where that says nothing, as one that must not be repeated:
// a needless question is better than a gift sent twice.
func Lookup(method string) Method {
	if known, ok := methodTable[strings.ToLower(method)]; ok {
		return known
	}
	unknown := byPrefix(strings.ToLower(method))
	unknown.Name = method
	return unknown
}

func byPrefix(lower string) Method {
	switch {
	case strings.HasPrefix(lower, "get"):
		return read
	case strings.HasPrefix(lower, "edit"):
		return edit
	case strings.HasPrefix(lower, "answer"):
		return reply
	case strings.HasPrefix(lower, "send"), strings.HasPrefix(lower, "forward"), strings.HasPrefix(lower, "copy"):
		return send
	default:
		return once
	}
}

// The kinds of method. Which method is of which kind is in methodtable.go.
var (
	send   = Method{Counts: true}
	edit   = Method{Counts: true, Repeatable: true}
	show   = Method{Counts: true, Repeatable: true, Transient: true}
	reply  = Method{Repeatable: true, Answer: true}
	setter = Method{Repeatable: true}
	read   = Method{Repeatable: true, Read: true}
	once   = Method{}
)

// multi lists the methods that make several messages in one call, by the param
// that holds them. They can succeed in part, and Telegram then reports an error.
var multi = map[string]string{
	"sendmediagroup":  "media",
	"copymessages":    "message_ids",
	"forwardmessages": "message_ids",
}

func isMulti(method string) bool { return multi[strings.ToLower(method)] != "" }
