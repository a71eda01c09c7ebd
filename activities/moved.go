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

// follow addresses the call anew if err says, or it is known by now, that its
// chat has another id. A call that has moved once under way does not move again.
//
// Only a move that Telegram told is written at once: it cost a request. One that
// cannot be written costs the next attempt one more such answer.
func (t *try) follow(ctx context.Context, err error) bool {
	te, answered := errors.AsType[*telegram.Error](err)
	told := answered && te.MigrateToChatID != 0
	to := t.newAddress(err)
	if told {
		to = te.MigrateToChatID
		t.noteMove(ctx, to)
	}
	if to == 0 || t.entries().MovedTo != 0 || t.stays != nil && t.stays(to) != nil {
		return false
	}
	t.readdress(to)
	note := func(l *contract.Ledger) { l.MovedTo, l.InFlight = to, false }
	if told {
		_ = t.write(ctx, note)
	} else {
		t.remember(note)
	}
	return true
}

// newAddress is where the chat is by now, 0 when that is not known. A group that
// moved long ago answers that it was deleted.
func (t *try) newAddress(err error) int64 {
	if moved, ok := errors.AsType[*MovedTo](err); ok {
		return moved.To
	}
	if telegram.Classify(err, t.method.Name) == telegram.Unreachable {
		return t.knownMove()
	}
	return 0
}

// noteMove takes the chat's budget and everything that waits for it along. It
// happens before the grant is settled, so that the next call meets it.
func (t *try) noteMove(ctx context.Context, to int64) {
	if t.id == 0 {
		return
	}
	t.Budget.Move(t.id, to)
	if t.Chats != nil {
		ctx, cancel := noted(ctx)
		defer cancel()
		t.Chats.Move(ctx, t.id, to)
	}
}

// readdress puts another chat_id into the parameters and leaves the rest as it is.
func (t *try) readdress(chat int64) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(t.params, &fields) != nil {
		return
	}
	fields["chat_id"] = json.RawMessage(strconv.FormatInt(chat, 10))
	if params, err := (contract.Call{Params: fields}).Object(); err == nil {
		t.params, t.chat, t.id = params, chat, chat
	}
}

// budgetChat is the chat whose budget a call spends, 0 for none. A public name
// that is not resolved gets a number of its own below zero, like the groups and
// channels that such names belong to: otherwise a 429 for one of them would be
// taken for one on the method.
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
