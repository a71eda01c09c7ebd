package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/durabot/durabot/internal/telegram"
)

// Settings are what a running bot is told.
type Settings struct {
	// Token is the bot's token. Required.
	Token telegram.Token
	// APIURL is the Bot API server. Default https://api.telegram.org.
	APIURL string
	// Temporal are the client options of the bot's namespace. Default: Temporal's
	// own variables and profiles, which default to localhost:7233, namespace "default".
	Temporal client.Options
	// HTTP is the address of /healthz, /readyz, /metrics, /api/v1/stats and, with a
	// webhook, /telegram/webhook; "" serves none. Default 127.0.0.1:8080.
	HTTP string
	// Advertise is where the other processes of the bot reach HTTP, as HOST:PORT.
	// Default "": at the address it listens on.
	Advertise string
	// Intake is "poll", "webhook" or "none". Default poll.
	Intake string
	// Webhook is what a webhook needs.
	Webhook Webhook
	// TakeOver lets a webhook that is not ours be replaced, or any be removed before
	// the first poll. Default false: it is reported.
	TakeOver bool
	// NoDuty is for a process that runs workflows and handlers and never talks to
	// Telegram by itself. Default false.
	NoDuty bool
	// AllowedUpdates are the kinds of updates to ask Telegram for. Default: all
	// but chat_member, message_reaction and message_reaction_count.
	AllowedUpdates []string
	// MaxUpdateAge ends older updates as expired. Default 0: none is too old.
	MaxUpdateAge time.Duration
	// NewIDs takes an update_id that comes again with other content for a new
	// update: for a local Bot API server that was wiped. Default false.
	NewIDs bool
	// AnswerCallbacks answers button presses at once. Default true.
	AnswerCallbacks bool
	// HandlerTimeout bounds one attempt of the handler. Default 5 s.
	HandlerTimeout time.Duration
	// GlobalPerSecond is the bot's even rate. 0 is no limit. Default 28.
	GlobalPerSecond float64
	// PaidPerSecond is the even rate of what Telegram is paid for, beside the other. 0
	// is no limit. Default 1000.
	PaidPerSecond float64
	// ChatPerSecond is a private chat's mean rate. 0 is no limit. Default 1.
	ChatPerSecond float64
	// ChatBurst is what a private chat takes at once. Default 3.
	ChatBurst int
	// GroupPerMinute is a group's or channel's rate. 0 is no limit. Default 20.
	GroupPerMinute int
	// LateAfter is how long the oldest call may wait before health is degraded. 0
	// is never. Default 5 min.
	LateAfter time.Duration
	// HeartbeatURL is asked for once a minute by the process on duty while it is
	// ready, so that a monitor notices when it stays away. It is a secret. Default
	// "": none.
	HeartbeatURL string
	// Log takes structured lines. Default: none.
	Log *slog.Logger
}

// DefaultAllowedUpdates are all kinds of Bot API 10.3 but the three that
// Telegram sends only on request: chat_member, message_reaction and
// message_reaction_count.
var DefaultAllowedUpdates = []string{
	"message", "edited_message", "channel_post", "edited_channel_post", "business_connection",
	"business_message", "edited_business_message", "deleted_business_messages", "guest_message",
	"inline_query", "chosen_inline_result", "callback_query", "shipping_query", "pre_checkout_query",
	"purchased_paid_media", "poll", "poll_answer", "my_chat_member", "chat_join_request", "chat_boost",
	"removed_chat_boost", "managed_bot", "subscription", "stopped_message_generation",
}

// Defaults are the settings of a bot that is told its token only.
func Defaults() Settings {
	return Settings{
		HTTP: "127.0.0.1:8080", Intake: "poll", Webhook: Webhook{Connections: 40}, AllowedUpdates: slices.Clone(DefaultAllowedUpdates), AnswerCallbacks: true,
		HandlerTimeout: 5 * time.Second, GlobalPerSecond: 28, PaidPerSecond: 1000, ChatPerSecond: 1, ChatBurst: 3, GroupPerMinute: 20,
		LateAfter: 5 * time.Minute,
		Log:       slog.New(slog.DiscardHandler),
	}
}

// Validate reports the first setting that cannot be, by its flag.
func (s Settings) Validate() error {
	switch {
	case s.Token.BotID() == 0:
		return ErrNoToken
	case s.Intake != "poll" && s.Intake != "webhook" && s.Intake != "none":
		return fmt.Errorf("--intake: want poll, webhook or none, got %q", s.Intake)
	case s.Advertise != "" && !hostPort(s.Advertise):
		return fmt.Errorf("--advertise: want HOST:PORT, got %q", s.Advertise)
	case s.HandlerTimeout <= 0:
		return fmt.Errorf("--handler-timeout: want more than 0, got %v", s.HandlerTimeout)
	case s.MaxUpdateAge < 0:
		return fmt.Errorf("--max-update-age: want 0 (off) or more, got %v", s.MaxUpdateAge)
	case !(s.GlobalPerSecond >= 0): // false for NaN, too
		return fmt.Errorf("--global-per-second: want 0 (off) or more, got %v", s.GlobalPerSecond)
	case !(s.PaidPerSecond >= 0):
		return fmt.Errorf("--paid-per-second: want 0 (off) or more, got %v", s.PaidPerSecond)
	case !(s.ChatPerSecond >= 0):
		return fmt.Errorf("--chat-per-second: want 0 (off) or more, got %v", s.ChatPerSecond)
	case s.ChatBurst < 1:
		return fmt.Errorf("--chat-burst: want 1 or more, got %d", s.ChatBurst)
	case s.GroupPerMinute < 0:
		return fmt.Errorf("--group-per-minute: want 0 (off) or more, got %d", s.GroupPerMinute)
	case s.LateAfter < 0:
		return fmt.Errorf("--late-after: want 0 (off) or more, got %v", s.LateAfter)
	case !address(s.HeartbeatURL):
		return errors.New("--heartbeat-url: want an address such as https://monitor.example/ping/ID, or none")
	case s.Intake == "webhook":
		return s.validateWebhook()
	}
	return nil
}

// address reports whether a URL can be asked for; "" is none.
func address(raw string) bool {
	u, err := url.Parse(raw)
	return raw == "" || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// FromEnv are the defaults with what the environment says of the token,
// Telegram's address and Temporal.
func FromEnv(env Env) (Settings, error) {
	s := Defaults()
	err := s.Read(env)
	return s, err
}

// Read takes from the environment what no flag sets: the token, Telegram's
// address and Temporal's settings.
func (s *Settings) Read(env Env) error {
	var err error
	if s.Token, err = env.Token(); err != nil {
		return err
	}
	s.APIURL = env.Value("TELEGRAM_API_URL")
	s.Temporal, err = env.Temporal()
	return err
}
