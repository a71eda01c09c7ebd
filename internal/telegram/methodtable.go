package telegram

import "strings"

// The lists follow the Bot API 10.3 method list; where it is silent about
// repeating, tdlib/telegram-bot-api Client.cpp decides.
const (
	// Each call makes a new visible message; a topic announces itself with one.
	sendNames = `sendMessage sendPhoto sendLivePhoto sendAudio sendDocument sendVideo sendAnimation sendVoice
		sendVideoNote sendSticker sendLocation sendVenue sendContact sendPoll sendDice sendGame sendInvoice
		sendPaidMedia sendChecklist sendRichMessage sendMediaGroup sendGift forwardMessage forwardMessages
		copyMessage copyMessages createForumTopic`

	// What may be paid for, to leave beyond the free rate (allow_paid_broadcast).
	payableNames = `sendMessage copyMessage sendPhoto sendLivePhoto sendAudio sendDocument sendVideo sendAnimation
		sendVoice sendVideoNote sendPaidMedia sendMediaGroup sendLocation sendVenue sendContact sendPoll sendDice
		sendSticker sendGame sendInvoice sendRichMessage`

	// Edits share the budget of sends. Repeating one is harmless as long as no
	// newer edit of the same message lies between.
	editNames = `editMessageText editMessageCaption editMessageMedia editMessageReplyMarkup
		editMessageLiveLocation editMessageChecklist stopMessageLiveLocation stopPoll editEphemeralMessageText
		editEphemeralMessageCaption editEphemeralMessageMedia editEphemeralMessageReplyMarkup editForumTopic
		editGeneralForumTopic`

	// Shown for seconds. A draft is keyed by its draft_id.
	showNames = `sendChatAction sendMessageDraft sendRichMessageDraft`

	// sendChatJoinRequestWebApp is keyed by a query id like the answers.
	replyNames = `answerCallbackQuery answerInlineQuery answerPreCheckoutQuery answerShippingQuery
		answerChatJoinRequestQuery answerWebAppQuery answerGuestQuery sendChatJoinRequestWebApp`

	// State: the second call finds what the first one left.
	setterNames = `deleteMessage deleteMessages deleteEphemeralMessage deleteMessageReaction
		deleteMessageReactions deleteAllMessageReactions setMessageReaction pinChatMessage unpinChatMessage
		unpinAllChatMessages unpinAllForumTopicMessages unpinAllGeneralForumTopicMessages banChatMember
		banChatSenderChat unbanChatSenderChat restrictChatMember promoteChatMember
		setChatAdministratorCustomTitle setChatPermissions setChatPhoto deleteChatPhoto setChatTitle
		setChatDescription setChatStickerSet deleteChatStickerSet setChatMenuButton setChatMemberTag setMyCommands
		deleteMyCommands setMyName setMyDescription setMyShortDescription setMyProfilePhoto removeMyProfilePhoto
		setMyDefaultAdministratorRights approveChatJoinRequest declineChatJoinRequest leaveChat closeForumTopic
		reopenForumTopic deleteForumTopic closeGeneralForumTopic reopenGeneralForumTopic hideGeneralForumTopic
		unhideGeneralForumTopic readBusinessMessage deleteBusinessMessages setBusinessAccountName
		setBusinessAccountUsername setBusinessAccountBio setBusinessAccountProfilePhoto
		removeBusinessAccountProfilePhoto setBusinessAccountGiftSettings setGameScore refundStarPayment
		setWebhook deleteWebhook setUserEmojiStatus setStickerPositionInSet setStickerEmojiList
		setStickerKeywords setStickerMaskPosition setStickerSetTitle setStickerSetThumbnail
		setCustomEmojiStickerSetThumbnail setPassportDataErrors verifyUser verifyChat removeUserVerification
		removeChatVerification editChatInviteLink editChatSubscriptionInviteLink revokeChatInviteLink
		editUserStarSubscription editStory deleteStory uploadStickerFile close`

	// Each call makes, moves, pays or replaces something. unbanChatMember is here
	// because it throws out a member who has come back in the meantime.
	onceNames = `postStory repostStory giftPremiumSubscription transferGift transferBusinessAccountStars
		convertGiftToStars upgradeGift createInvoiceLink createChatInviteLink createChatSubscriptionInviteLink
		exportChatInviteLink replaceManagedBotToken savePreparedInlineMessage savePreparedKeyboardButton
		approveSuggestedPost declineSuggestedPost unbanChatMember createNewStickerSet addStickerToSet
		replaceStickerInSet deleteStickerFromSet deleteStickerSet logOut`

	readNames = `getMe getUpdates getWebhookInfo getFile getChat getChatAdministrators getChatMemberCount
		getChatMember getChatMenuButton getMyCommands getMyName getMyDescription getMyShortDescription
		getMyDefaultAdministratorRights getUserProfilePhotos getUserChatBoosts getBusinessConnection
		getForumTopicIconStickers getStickerSet getCustomEmojiStickers getGameHighScores getStarTransactions
		getMyStarBalance getAvailableGifts getBusinessAccountStarBalance getBusinessAccountGifts
		getManagedBotToken`
)

var methodTable = buildMethodTable()

func buildMethodTable() map[string]Method {
	table := map[string]Method{}
	for _, group := range []struct {
		kind  Method
		names string
	}{
		{send, sendNames},
		{edit, editNames},
		{show, showNames},
		{reply, replyNames},
		{setter, setterNames},
		{once, onceNames},
		{read, readNames},
	} {
		for name := range strings.FieldsSeq(group.names) {
			method := group.kind
			method.Name = name
			table[strings.ToLower(name)] = method
		}
	}
	for name := range strings.FieldsSeq(payableNames) {
		method := table[strings.ToLower(name)]
		method.Payable = true
		table[strings.ToLower(name)] = method
	}
	return table
}
