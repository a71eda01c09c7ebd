package telegramsim

import (
	"cmp"
	"net/http"
	"time"
)

// DefaultToken is the token of a simulator that was given none. It has the
// shape of a real one, so that leak checks written for real tokens find it.
const DefaultToken = "700000001:SIM-secret-not-a-real-token-0000000"

// UnknownChat says how the simulator treats a chat id it has never seen.
type UnknownChat string

// The ways to treat an unknown chat id. Negative ids are never "never started".
const (
	// UnknownNotFound answers 400 "chat not found". It is the default.
	UnknownNotFound UnknownChat = ""
	// UnknownNeverStarted answers 403 "bot can't initiate conversation with a
	// user" for positive ids.
	UnknownNeverStarted UnknownChat = "never_started"
	// UnknownCreate makes the chat as if its user had started the bot, for load
	// tests with thousands of recipients.
	UnknownCreate UnknownChat = "create"
)

// Options are the settings of a simulator. The zero value is usable.
type Options struct {
	// Token is the only token that is answered. Default DefaultToken.
	Token string
	// BotName is the bot's username without "@". Default "durabot_sim_bot".
	BotName string
	// Seed feeds every random choice: update ids, query ids, new chat ids.
	Seed int64
	// Latency is added to the answer of every method but getUpdates, after the
	// call took effect. Default 0.
	Latency time.Duration
	// Limits are the rate limits. The zero value means Telegram's usual ones.
	Limits Limits
	// Stars is the balance that paid broadcasts are taken from. Negative means that
	// paid broadcasts are not switched on, as they are for a real bot until its owner
	// asks BotFather: a call with allow_paid_broadcast is then 400. Default 1,000,000.
	Stars int64
	// Unknown is the treatment of chats never seen. Default UnknownNotFound.
	Unknown UnknownChat
	// NoPollRules switches off what the real server does to hasty pollers: limit
	// 1 for the same offset within 0.5 s, a timeout raised to 3 s for the same
	// offset within 3 s, a 409 within 3 s of another delayed by 3 s, and 429 for
	// setWebhook within 1 s of another. Default off: rules apply.
	NoPollRules bool
	// PlainWebhooks takes webhooks of http:// and of any port, as a server of one's own
	// does with --local. The real server takes HTTPS only, on ports 443, 80, 88 and
	// 8443. Default off.
	PlainWebhooks bool
	// WebhookTimeout is how long a receiver may take to answer. Default 60 s, as in the
	// real server.
	WebhookTimeout time.Duration
	// WebhookBackoff is the wait before the third try of an update; it doubles with each
	// further one up to a random 60 to 120 s. It is also the least time between new
	// connections to a receiver that has answered nothing well for 10 s. Default 2 s, as
	// in the real server.
	WebhookBackoff time.Duration
	// WebhookTransport carries the deliveries, for tests without sockets; it must end a
	// request with its context. Default nil: TCP, and TLS without a look at the
	// receiver's certificate, which the real server verifies.
	WebhookTransport http.RoundTripper
	// StateFile keeps the queue, chats, messages, offsets, blocks and penalties
	// across restarts. An answer is given when the file has what it is about, or
	// after 250 ms, when the state has grown too large for that.
	// Default "": memory only. The bytes of files are never in it.
	StateFile string
	// TemporalUI is the address of the Temporal UI, which the chat page links to.
	// Default "": no links.
	TemporalUI string
}

func (o Options) withDefaults() Options {
	if o.Token == "" {
		o.Token = DefaultToken
	}
	if o.BotName == "" {
		o.BotName = "durabot_sim_bot"
	}
	if o.Stars == 0 {
		o.Stars = plentyOfStars
	}
	o.WebhookTimeout = cmp.Or(o.WebhookTimeout, time.Minute)
	o.WebhookBackoff = cmp.Or(o.WebhookBackoff, 2*time.Second)
	o.Limits = o.Limits.withDefaults()
	return o
}
