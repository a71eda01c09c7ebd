package text_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/text"
)

// params are a call's parameters as a test writes them.
type params map[string]any

func (p params) json(t require.TestingT) json.RawMessage {
	raw, err := json.Marshal(p)
	require.NoError(t, err)
	return raw
}

// sent is what a test wants to know of a piece.
type sent struct {
	ChatID          json.RawMessage  `json:"chat_id"`
	Text            string           `json:"text"`
	Caption         string           `json:"caption"`
	ParseMode       string           `json:"parse_mode"`
	Entities        []map[string]any `json:"entities"`
	CaptionEntities []map[string]any `json:"caption_entities"`
	ReplyMarkup     json.RawMessage  `json:"reply_markup"`
}

// readPiece is a piece with its text and entities, be it a caption.
func readPiece(t require.TestingT, p text.Piece) sent {
	var s sent
	require.NoError(t, json.Unmarshal(p.Params, &s))
	if p.Method != "sendMessage" {
		s.Text, s.Entities = s.Caption, s.CaptionEntities
	}
	return s
}

// cut splits a sendMessage of the text.
func cut(t require.TestingT, p params) []sent {
	pieces, err := text.Split("sendMessage", p.json(t))
	require.NoError(t, err)
	all := make([]sent, len(pieces))
	for i, piece := range pieces {
		require.Equal(t, "sendMessage", piece.Method)
		all[i] = readPiece(t, piece)
	}
	return all
}

// lengths are those of the texts, in code points.
func lengths(all []sent) []int {
	n := make([]int, len(all))
	for i, s := range all {
		n[i] = utf8.RuneCountInString(s.Text)
	}
	return n
}

func joined(all []sent) string {
	var b strings.Builder
	for _, s := range all {
		b.WriteString(s.Text)
	}
	return b.String()
}

func requireUntouched(t *testing.T, method string, raw json.RawMessage) {
	t.Helper()
	pieces, err := text.Split(method, raw)
	require.NoError(t, err)
	require.Equal(t, []text.Piece{{Method: method, Params: raw}}, pieces)
}
