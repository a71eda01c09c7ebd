package cli

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/text"
	"github.com/durabot/durabot/starter"
)

// saysLines and saysRunes are how much of a message a preview shows.
const (
	saysLines = 12
	saysRunes = 600
)

// rendered are the parameters that a recipient gets, without its chat.
func rendered(what contract.BroadcastCall, to contract.Recipient) (json.RawMessage, error) {
	params, err := what.Call.Object()
	if err != nil || !what.Template {
		return params, err
	}
	t, err := text.ParseTemplate(params)
	if err != nil {
		return nil, err
	}
	return t.Render(to.Fields)
}

// saysTo is what the first recipient would read, "" for nothing. Its control
// characters cannot reach the terminal.
func saysTo(b starter.Broadcast) string {
	params, err := rendered(b.What, b.Recipients[0])
	if err != nil {
		return ""
	}
	var words struct{ Text, Caption string }
	_ = json.Unmarshal(params, &words) // what says nothing has nothing to show
	said := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return -1
		}
		return r
	}, words.Text+words.Caption)
	if runes := []rune(said); len(runes) > saysRunes {
		said = string(runes[:saysRunes]) + "…"
	}
	if lines := strings.Split(said, "\n"); len(lines) > saysLines {
		said = strings.Join(append(lines[:saysLines], "…"), "\n")
	}
	return strings.TrimSpace(said)
}
