package telegram

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
)

const (
	placeholder = "[redacted]"
	maxToken    = 128 // a real token has 46 characters; 128 leaves room for ids to grow
)

// The secret alphabet is the one BotFather uses. Nothing in it can change a URL
// path, and four characters are the least that Redact can look for without
// shredding ordinary text.
var tokenForm = regexp.MustCompile(`^([1-9][0-9]{0,18}):([A-Za-z0-9_-]{4,})$`)

// Token is a bot token that prints, logs and marshals as its bot id and a
// placeholder. The zero Token is valid, stands for "no token" and redacts
// nothing.
type Token struct {
	// A pointer to a pointer, because fmt cannot call the methods of an unexported
	// field: it prints what is in it, and for a verb it finds wrong it follows one
	// pointer to a struct, but never a pointer to a pointer.
	box **tokenParts
}

type tokenParts struct {
	id     int64
	text   string
	hidden []string
}

// ParseToken reads "<bot id>:<secret>". White space around it is dropped since
// token files end in a newline. The error says what was expected and never
// quotes the input, because a nearly right token is a secret too.
func ParseToken(s string) (Token, error) {
	s = strings.TrimSpace(s)
	match := tokenForm.FindStringSubmatch(s)
	if match == nil || len(s) > maxToken {
		return Token{}, errors.New("bot token: expected <bot id>:<secret>, digits, a colon, then letters, digits, _ or - (4 at least)")
	}
	id, err := strconv.ParseInt(match[1], 10, 64)
	if err != nil {
		return Token{}, errors.New("bot token: expected a bot id below 2^63 in front of the colon")
	}
	parts := &tokenParts{id: id, text: s, hidden: secretForms(s, match[2])}
	return Token{&parts}, nil
}

// parts is empty for the zero Token.
func (t Token) parts() tokenParts {
	if t.box == nil {
		return tokenParts{}
	}
	return **t.box
}

// BotID is the number in front of the colon, 0 for the zero Token. It is public:
// Telegram shows it to every user of the bot.
func (t Token) BotID() int64 { return t.parts().id }

// Reveal returns the token itself, empty for the zero Token. It is the only way
// the secret leaves this type, so that a search for Reveal finds every use.
func (t Token) Reveal() string { return t.parts().text }

// Redact returns s with every form of the token replaced by a placeholder: the
// token, its secret half, both percent-escaped, and both inside base64 text of
// the standard or the URL alphabet at any alignment. The bot id stays.
func (t Token) Redact(s string) string {
	for _, form := range t.parts().hidden {
		s = strings.ReplaceAll(s, form, placeholder)
	}
	return s
}

// String returns the bot id and a placeholder, so that logs still tell bots apart.
func (t Token) String() string {
	if t.box == nil {
		return "[no token]"
	}
	return strconv.FormatInt(t.BotID(), 10) + ":" + placeholder
}

// GoString is String: %#v must not be the hole in the wall.
func (t Token) GoString() string { return t.String() }

// Format prints String for every verb, %x and %d included, because fmt would
// otherwise reach the fields behind a verb that String does not serve.
func (t Token) Format(f fmt.State, _ rune) {
	_, _ = f.Write([]byte(t.String())) // fmt.State buffers and never fails
}

// LogValue keeps the secret out of slog handlers that look past String.
func (t Token) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalJSON writes String as a JSON string. There is no way back: a token is
// read from its file or variable, never from JSON.
func (t Token) MarshalJSON() ([]byte, error) { return strconv.AppendQuote(nil, t.String()), nil }

// MarshalText covers map keys, XML and YAML, which ask for text.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }
