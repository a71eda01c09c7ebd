package telegramsim_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// inState brings a chat into a state, with one message of the bot in it.
func inState(t *testing.T, chatID int64, state telegramsim.ChatState) *bundle {
	t.Helper()
	b := free(t)
	b.SendText(chatID, "hello")
	b.say(chatID, "mine")
	switch state {
	case telegramsim.ChatBlocked:
		b.Block(chatID)
	case telegramsim.ChatDeactivated:
		b.Deactivate(chatID)
	case telegramsim.ChatKicked:
		b.Kick(chatID)
	case telegramsim.ChatMigrated:
		b.Migrate(chatID)
	case telegramsim.ChatNeverStarted:
		b.CreateChat(telegramsim.Chat{ID: chatID, State: state})
	}
	return b
}

// TestEveryStateAnswersEveryMethodAsTelegramDoes is the table of chat states:
// what a write, an edit, a deletion, a setting and a read get.
func TestEveryStateAnswersEveryMethodAsTelegramDoes(t *testing.T) {
	t.Parallel()
	const (
		blocked  = "Forbidden: bot was blocked by the user"
		gone     = "Forbidden: user is deactivated"
		never    = "Forbidden: bot can't initiate conversation with a user"
		kicked   = "Forbidden: bot was kicked from the group chat"
		kickedS  = "Forbidden: bot was kicked from the supergroup chat"
		migrated = "Bad Request: group chat was upgraded to a supergroup chat"
		fine     = ""
	)
	for _, c := range []struct {
		state      telegramsim.ChatState
		chatID     int64
		write      string // any method that writes
		edit, read string
	}{
		{telegramsim.ChatOpen, 1001, fine, fine, fine},
		{telegramsim.ChatBlocked, 1001, blocked, blocked, fine},
		{telegramsim.ChatDeactivated, 1001, gone, gone, fine},
		{telegramsim.ChatNeverStarted, 1001, never, never, fine},
		{telegramsim.ChatOpen, -5, fine, fine, fine},
		{telegramsim.ChatKicked, -5, kicked, kicked, fine},
		{telegramsim.ChatKicked, -1_000_000_000_005, kickedS, kickedS, fine},
		// Only writes to a basic group that moved are refused: tdlib's
		// Client.cpp, check_chat_access.
		{telegramsim.ChatMigrated, -5, migrated, fine, fine},
	} {
		answers := map[string]struct {
			params params
			want   string
		}{
			"sendMessage":    {params{"text": "x"}, c.write},
			"sendPhoto":      {params{"photo": "x"}, c.write},
			"sendChatAction": {params{"action": "typing"}, c.write},
			"sendMediaGroup": {params{"media": `[{"type":"photo","media":"a"},{"type":"photo","media":"b"}]`}, c.write},
			"copyMessage":    {params{"from_chat_id": c.chatID, "message_id": 1}, c.write},
			"copyMessages":   {params{"from_chat_id": c.chatID, "message_ids": "[1]"}, c.write},
			"deleteMessage":  {params{"message_id": 1}, c.write},
			"deleteMessages": {params{"message_ids": "[1]"}, c.write},
			"pinChatMessage": {params{"message_id": 1}, c.write},
			"editMessageText": {
				params{"message_id": 2, "text": "new"}, c.edit,
			},
			"getChat":       {nil, c.read},
			"getChatMember": {params{"user_id": 5}, c.read},
		}
		for method, a := range answers {
			t.Run(fmt.Sprint(c.state, c.chatID, method), func(t *testing.T) {
				t.Parallel()
				b := inState(t, c.chatID, c.state)
				p := params{"chat_id": c.chatID}
				maps.Copy(p, a.params)
				e := b.call(method, p)
				require.Equal(t, a.want, e.Description)
				require.Equal(t, a.want == fine, e.OK)
				if a.want == migrated {
					require.Equal(t, b.Chats()[0].MovedTo, e.Parameters.MigrateTo)
				}
			})
		}
	}
}

func TestARefusedWriteLeavesNoTrace(t *testing.T) {
	t.Parallel()
	for state, chatID := range map[telegramsim.ChatState]int64{
		telegramsim.ChatBlocked: 1001, telegramsim.ChatDeactivated: 1001, telegramsim.ChatNeverStarted: 1001,
		telegramsim.ChatKicked: -5, telegramsim.ChatMigrated: -5,
	} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			b := inState(t, chatID, state)
			before := len(b.Messages(0))
			b.call("sendMessage", params{"chat_id": chatID, "text": "x"})
			b.call("deleteMessage", params{"chat_id": chatID, "message_id": 1})
			require.Len(t, b.Messages(0), before)
			require.True(t, b.Messages(chatID)[0].Deleted.IsZero())
		})
	}
}

// TestEachChangeOfStateTellsTheBotWhatTelegramWould lists the my_chat_member
// updates: none for what Telegram keeps to itself.
func TestEachChangeOfStateTellsTheBotWhatTelegramWould(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		chatID int64
		change func(b *bundle)
		want   []string
	}{
		{"a block", 1001, func(b *bundle) { b.Block(1001) }, []string{"my_chat_memberkicked"}},
		{"a block twice", 1001, func(b *bundle) { b.Block(1001); b.Block(1001) }, []string{"my_chat_memberkicked"}},
		{"an unblock of an open chat", 1001, func(b *bundle) { b.Unblock(1001) }, nil},
		{"block and unblock", 1001, func(b *bundle) { b.Block(1001); b.Unblock(1001) }, []string{"my_chat_memberkicked", "my_chat_membermember"}},
		{"a deleted account", 1001, func(b *bundle) { b.Deactivate(1001) }, nil},
		{"a kick", -5, func(b *bundle) { b.Kick(-5) }, []string{"my_chat_memberkicked"}},
		{"a kick and a return", -5, func(b *bundle) { b.Kick(-5); b.Unblock(-5) }, []string{"my_chat_memberkicked", "my_chat_membermember"}},
		{"a migration", -5, func(b *bundle) { b.Migrate(-5) }, []string{"message", "message"}},
		{"a rename", 1001, func(b *bundle) { b.CreateChat(telegramsim.Chat{ID: 1001, Name: "Ann"}) }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := free(t)
			b.SendText(c.chatID, "hello")
			c.change(b)
			require.Equal(t, append([]string{"message"}, c.want...), kindsOf(t, b))
		})
	}
}

func TestUnknownChatsAnswerByTheSettingAndTheSign(t *testing.T) {
	t.Parallel()
	const (
		notFound = "Bad Request: chat not found"
		never    = "Forbidden: bot can't initiate conversation with a user"
	)
	for _, c := range []struct {
		setting telegramsim.UnknownChat
		chat    any
		want    string
	}{
		{telegramsim.UnknownNotFound, 7, notFound},
		{telegramsim.UnknownNotFound, -7, notFound},
		{telegramsim.UnknownNeverStarted, 7, never},
		{telegramsim.UnknownNeverStarted, -7, notFound},
		{telegramsim.UnknownNeverStarted, "@nobody", notFound},
		{telegramsim.UnknownCreate, 7, ""},
		{telegramsim.UnknownCreate, -7, ""},
		{telegramsim.UnknownCreate, -1_000_000_000_007, ""},
		{telegramsim.UnknownCreate, "@nobody", notFound},
		{telegramsim.UnknownCreate, 0, notFound},
		{telegramsim.UnknownCreate, "me", notFound},
		{telegramsim.UnknownCreate, "", "Bad Request: chat_id is empty"},
	} {
		t.Run(fmt.Sprint(c.setting, c.chat), func(t *testing.T) {
			t.Parallel()
			b := setup(t, telegramsim.Options{Unknown: c.setting})
			require.Equal(t, c.want, b.call("sendMessage", params{"chat_id": c.chat, "text": "x"}).Description)
			if c.want != "" {
				require.Empty(t, b.Chats())
			}
		})
	}
}

func TestAChatsKindFollowsItsID(t *testing.T) {
	t.Parallel()
	b := free(t)
	for id, want := range map[int64]string{
		1: "private", 9_000_000_000: "private", -1: "group", -1_000_000_000_000: "group", -1_000_000_000_001: "supergroup",
	} {
		require.Equal(t, want, b.CreateChat(telegramsim.Chat{ID: id}).Type, id)
	}
	require.Equal(t, "channel", b.CreateChat(telegramsim.Chat{ID: -1_000_000_000_002, Type: "channel"}).Type)
}

func TestMigrationKeepsTheTitleAndStartsMessageIDsAnew(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.CreateChat(telegramsim.Chat{ID: -5, Title: "Ours"})
	b.SendText(-5, "hello")
	old := b.say(-5, "before")
	moved := b.Migrate(-5)
	require.Equal(t, "Ours", b.Chats()[1].Title)
	require.Equal(t, "supergroup", b.Chats()[1].Type)
	require.Equal(t, int64(2), b.say(moved, "after"), "the service message was the first")
	require.Equal(t, "Bad Request: message to edit not found",
		b.call("editMessageText", params{"chat_id": moved, "message_id": old + 5, "text": "x"}).Description)
	other := b.Migrate(-6)
	require.NotEqual(t, moved, other)
}

func TestUsernamesAreFoundInAnyCase(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.CreateChat(telegramsim.Chat{ID: 1001, Username: "Ann_Lee"})
	for _, name := range []string{"@Ann_Lee", "@ann_lee", "@ANN_LEE"} {
		require.True(t, b.call("sendMessage", params{"chat_id": name, "text": "x"}).OK, name)
	}
	require.Equal(t, int64(1001), b.Requests()[0].ChatID, "the log knows who that is")
	require.False(t, b.call("sendMessage", params{"chat_id": "Ann_Lee", "text": "x"}).OK, "without the @ it is no name")
}
