package telegramsim_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// kindsOf names the updates waiting, and the new status of membership changes.
func kindsOf(t *testing.T, b *bundle) []string {
	t.Helper()
	var updates []map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(b.call("getUpdates", nil).Result, &updates))
	var names []string
	for _, u := range updates {
		for name, raw := range u {
			if name == "update_id" {
				continue
			}
			var change struct {
				New struct{ Status string } `json:"new_chat_member"`
			}
			require.NoError(t, json.Unmarshal(raw, &change))
			names = append(names, name+change.New.Status)
		}
	}
	return names
}

func TestBlockedUserIsUnreachableUntilUnblocked(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	b.Block(1001)
	b.Block(1001)
	e := b.call("sendMessage", params{"chat_id": 1001, "text": "x"})
	require.Equal(t, 403, e.Code)
	require.Equal(t, "Forbidden: bot was blocked by the user", e.Description)
	b.Unblock(1001)
	b.say(1001, "back")
	b.Block(1001)
	b.SendText(1001, "I wrote again")
	b.say(1001, "welcome")
	require.Equal(t, []string{
		"message", "my_chat_memberkicked", "my_chat_membermember", "my_chat_memberkicked", "my_chat_membermember", "message",
	}, kindsOf(t, b))
}

func TestEveryLostChatHasItsOwnText(t *testing.T) {
	t.Parallel()
	b := free(t)
	for _, id := range []int64{1, 2, -3, -1_000_000_000_004} {
		b.SendText(id, "hello")
	}
	b.CreateChat(telegramsim.Chat{ID: 2, State: telegramsim.ChatNeverStarted})
	b.Deactivate(1)
	b.Kick(-3)
	b.Kick(-1_000_000_000_004)
	for id, want := range map[int64]string{
		1:                  "Forbidden: user is deactivated",
		2:                  "Forbidden: bot can't initiate conversation with a user",
		-3:                 "Forbidden: bot was kicked from the group chat",
		-1_000_000_000_004: "Forbidden: bot was kicked from the supergroup chat",
	} {
		require.Equal(t, want, b.call("sendMessage", params{"chat_id": id, "text": "x"}).Description)
		require.Equal(t, want, b.call("editMessageText", params{"chat_id": id, "message_id": 1, "text": "x"}).Description)
	}
	require.Zero(t, b.SendText(-3, "nobody hears"), "a bot that was kicked gets no updates")
	b.SendText(2, "/start")
	b.say(2, "hello")
	require.NotContains(t, kindsOf(t, b)[6:], "my_chat_membermember", "starting is no unblocking")
}

func TestUnknownChatsAreASetting(t *testing.T) {
	t.Parallel()
	strict := setup(t, telegramsim.Options{Unknown: telegramsim.UnknownNeverStarted})
	require.Equal(t, 403, strict.call("sendMessage", params{"chat_id": 7, "text": "x"}).Code)
	require.Equal(t, 400, strict.call("sendMessage", params{"chat_id": -7, "text": "x"}).Code)
	generous := setup(t, telegramsim.Options{Unknown: telegramsim.UnknownCreate})
	generous.say(7, "x")
	require.Equal(t, []telegramsim.Chat{{ID: 7, Type: "private", Name: "User 7", State: telegramsim.ChatOpen}}, generous.Chats())
}

func TestMigrationMovesWritesOnly(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(-4002, "hello")
	old := b.say(-4002, "before")
	moved := b.Migrate(-4002)
	require.Less(t, moved, int64(-1_000_000_000_000))
	require.Equal(t, moved, b.Migrate(-4002))

	e := b.call("sendMessage", params{"chat_id": -4002, "text": "x"})
	require.Equal(t, 400, e.Code)
	require.Equal(t, moved, e.Parameters.MigrateTo)
	require.True(t, b.call("editMessageText", params{"chat_id": -4002, "message_id": old, "text": "after"}).OK)
	require.True(t, b.call("getChat", params{"chat_id": -4002}).OK)
	b.say(moved, "new home")
	require.Equal(t, 400, b.call("editMessageText", params{"chat_id": moved, "message_id": 99, "text": "x"}).Code)

	b.SendText(-4002, "to the new one")
	result := string(b.call("getUpdates", nil).Result)
	require.Contains(t, result, `"migrate_to_chat_id":-10`)
	require.Contains(t, result, `"migrate_from_chat_id":-4002`)
	last := b.Messages(moved)
	require.Equal(t, "to the new one", last[len(last)-1].Text)
}

func TestCreatedChatsGetFreeIDs(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "taken")
	c := b.CreateChat(telegramsim.Chat{Name: "Ann"})
	require.Equal(t, int64(1002), c.ID)
	require.Equal(t, "private", c.Type)
	b.say(c.ID, "hello")
}

func TestGroupTextsHaveASender(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendTextFrom(-5, 42, "hi")
	b.SendText(-5, "hi")
	list := b.Messages(-5)
	require.Equal(t, int64(42), list[0].FromID)
	require.Equal(t, int64(600_000_005), list[1].FromID)
}
