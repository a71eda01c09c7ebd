package contract

import "time"

// ChatInput is what a chat's workflow starts, and continues, with.
type ChatInput struct {
	BotID int64     `json:"bot_id,string"`
	State ChatState `json:"state"`
	// Attributes is whether the namespace knows our search attributes.
	Attributes bool `json:"attributes,omitempty"`
}

// ChatState is what is exceptional about a chat, and what its workflow shows in
// its memo. A chat about which nothing is has no open workflow.
type ChatState struct {
	ChatID int64 `json:"chat_id,string"`
	// Closed says that the chat is closed to the bot, nil when it is not known to be.
	Closed *ChatClosed `json:"closed,omitempty"`
	// Moved says which chat took its place.
	Moved *ChatMoved `json:"moved,omitempty"`
	// Penalties are Telegram's on this chat that last longer than 30 s.
	Penalties []ChatPenalty `json:"penalties,omitempty"`
}

// ChatClosed is a chat that the bot cannot write to.
type ChatClosed struct {
	// Why is Telegram's answer.
	Why   string    `json:"why"`
	Since time.Time `json:"since"`
}

// ChatMoved is a group that became a supergroup.
type ChatMoved struct {
	To    int64     `json:"to,string"`
	Since time.Time `json:"since"`
}

// ChatPenalty is a 429 on a chat.
type ChatPenalty struct {
	// Method is "" for all methods.
	Method string    `json:"method,omitempty"`
	Until  time.Time `json:"until"`
}

// ChatMark adds to a chat's state; nil and empty fields change nothing.
type ChatMark struct {
	Closed    *ChatClosed   `json:"closed,omitempty"`
	Moved     *ChatMoved    `json:"moved,omitempty"`
	Penalties []ChatPenalty `json:"penalties,omitempty"`
}

// ChatClear takes the closed mark back, and with All every mark. Penalties end
// at their time: they are Telegram's.
type ChatClear struct {
	// Before spares a mark that was made at this time or later.
	Before time.Time `json:"before"`
	All    bool      `json:"all,omitempty"`
	Reason string    `json:"reason"`
	By     string    `json:"by"`
}
