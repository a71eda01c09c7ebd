package activities

import (
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
)

// moved reports whether Telegram says that the chat has become a supergroup
// with another id. Then the call is addressed anew and the ledger knows it. A
// ledger that cannot be written costs the next attempt one more such answer. A
// call that has moved once does not move again.
func (t *try) moved(ctx context.Context, err error) bool {
	var te *telegram.Error
	if !errors.As(err, &te) || te.MigrateToChatID == 0 || t.entries().MovedTo != 0 {
		return false
	}
	t.readdress(te.MigrateToChatID)
	_ = t.write(ctx, func(l *contract.Ledger) {
		l.MovedTo, l.InFlight = te.MigrateToChatID, false
	})
	return true
}

// readdress puts another chat_id into the parameters and leaves the rest as it is.
func (t *try) readdress(chat int64) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(t.params, &fields) != nil {
		return
	}
	fields["chat_id"] = json.RawMessage(strconv.FormatInt(chat, 10))
	if params, err := (contract.Call{Params: fields}).Object(); err == nil {
		t.params, t.chat = params, chat
	}
}

// budgetChat is the chat whose budget a call spends, 0 for none. A public name
// gets a number of its own below zero, like the groups and channels that such
// names belong to: otherwise a 429 for one of them would be taken for one on
// the method.
func budgetChat(params json.RawMessage) int64 {
	id, name, _ := telegram.ChatID(params)
	if name == "" {
		return id
	}
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(strings.ToLower(name))) // never fails
	return -int64(sum.Sum64()>>1) - 1               //nolint:gosec // 63 bits fit
}

// messageID is the id of the message in an answer, of the first one for an
// album, "" where the answer holds none.
func messageID(answer json.RawMessage) string {
	type message struct {
		MessageID int64 `json:"message_id"`
	}
	var one message
	if json.Unmarshal(answer, &one) == nil && one.MessageID != 0 {
		return strconv.FormatInt(one.MessageID, 10)
	}
	var album []message
	if json.Unmarshal(answer, &album) == nil && len(album) > 0 && album[0].MessageID != 0 {
		return strconv.FormatInt(album[0].MessageID, 10)
	}
	return ""
}
