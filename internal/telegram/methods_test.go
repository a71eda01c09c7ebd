package telegram_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegram"
)

// The kinds, spelled out once more so that the table is checked against words and
// not against itself.
var (
	sends   = telegram.Method{Counts: true}
	paid    = telegram.Method{Counts: true, Payable: true}
	edits   = telegram.Method{Counts: true, Repeatable: true}
	shows   = telegram.Method{Counts: true, Repeatable: true, Transient: true}
	answers = telegram.Method{Repeatable: true, Answer: true}
	sets    = telegram.Method{Repeatable: true}
	reads   = telegram.Method{Repeatable: true, Read: true}
	onces   = telegram.Method{}
)

func TestEveryMethodIsOfItsKind(t *testing.T) {
	t.Parallel()
	for _, group := range []struct {
		name    string
		want    telegram.Method
		methods string
	}{
		{"makes a message that can be paid for", paid, `sendMessage sendPhoto sendLivePhoto sendAudio sendDocument sendVideo
			sendAnimation sendVoice sendVideoNote sendSticker sendLocation sendVenue sendContact sendPoll sendDice
			sendGame sendInvoice sendPaidMedia sendRichMessage copyMessage sendMediaGroup`},
		{"makes a message", sends, `sendChecklist forwardMessage copyMessages forwardMessages createForumTopic sendGift`},
		{"edits", edits, `editMessageText editMessageCaption editMessageMedia editMessageReplyMarkup
			editMessageLiveLocation editMessageChecklist stopMessageLiveLocation stopPoll
			editEphemeralMessageText editEphemeralMessageCaption`},
		{"is pointless when late", shows, `sendChatAction sendMessageDraft sendRichMessageDraft`},
		{"answers a query", answers, `answerCallbackQuery answerInlineQuery answerPreCheckoutQuery
			answerShippingQuery answerChatJoinRequestQuery answerWebAppQuery answerGuestQuery
			sendChatJoinRequestWebApp`},
		{"sets a state", sets, `deleteMessage deleteMessages deleteEphemeralMessage deleteMessageReaction
			deleteMessageReactions setMessageReaction pinChatMessage unpinChatMessage unpinAllChatMessages
			unpinAllForumTopicMessages unpinAllGeneralForumTopicMessages banChatMember banChatSenderChat
			unbanChatSenderChat restrictChatMember promoteChatMember setChatPermissions setChatPhoto setChatTitle
			setChatDescription setChatStickerSet setChatAdministratorCustomTitle setMyName setMyDescription
			setMyShortDescription setMyCommands deleteMyCommands setMyDefaultAdministratorRights
			setChatMenuButton approveChatJoinRequest declineChatJoinRequest leaveChat closeForumTopic
			reopenForumTopic hideGeneralForumTopic unhideGeneralForumTopic closeGeneralForumTopic
			reopenGeneralForumTopic readBusinessMessage setGameScore refundStarPayment setWebhook deleteWebhook
			uploadStickerFile close`},
		{"must not be repeated", onces, `postStory repostStory giftPremiumSubscription transferGift
			transferBusinessAccountStars createInvoiceLink createChatInviteLink
			createChatSubscriptionInviteLink savePreparedInlineMessage savePreparedKeyboardButton
			exportChatInviteLink replaceManagedBotToken approveSuggestedPost unbanChatMember logOut
			createNewStickerSet addStickerToSet`},
		{"reads", reads, `getMe getUpdates getWebhookInfo getFile getChat getChatMember getChatAdministrators
			getUserProfilePhotos getStickerSet getMyCommands`},
	} {
		for method := range strings.FieldsSeq(group.methods) {
			t.Run(group.name+"/"+method, func(t *testing.T) {
				t.Parallel()
				want := group.want
				want.Name = method
				for _, spelling := range []string{method, strings.ToLower(method), strings.ToUpper(method)} {
					require.Equal(t, want, telegram.Lookup(spelling))
				}
			})
		}
	}
}

func TestAnUnknownMethodIsJudgedByItsFirstWord(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]telegram.Method{
		"sendHologram":        sends,
		"forwardEverything":   sends,
		"copyHologram":        sends,
		"editHologram":        edits,
		"answerHologramQuery": answers,
		"getHologram":         reads,
		"GETHOLOGRAM":         reads,
		"giveStars":           onces,
		"setHologram":         onces,
		"":                    onces,
	} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			want.Name = method
			require.Equal(t, want, telegram.Lookup(method))
		})
	}
}

func TestTheTableContradictsNeitherItselfNorThePrefixes(t *testing.T) {
	t.Parallel()
	require.Greater(t, len(telegram.MethodNames()), 150)
	for lower, method := range telegram.MethodNames() {
		require.Equal(t, lower, strings.ToLower(method.Name))
		require.Equal(t, strings.HasPrefix(lower, "get"), method.Read, method.Name)
		if method.Read || method.Answer || method.Transient {
			require.True(t, method.Repeatable, method.Name)
		}
		if strings.HasPrefix(lower, "send") && !method.Answer {
			require.True(t, method.Counts, method.Name)
		}
		if strings.HasPrefix(lower, "answer") {
			require.True(t, method.Answer, method.Name)
		}
		require.False(t, method.Counts && (method.Read || method.Answer), method.Name)
	}
}
