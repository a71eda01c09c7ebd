package worker

import (
	"log/slog"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/stats"
	"github.com/durabot/durabot/internal/telegram"
	"github.com/durabot/durabot/internal/telemetry"
	"github.com/durabot/durabot/starter"
	"github.com/durabot/durabot/worker/limiter"
)

// Options is what a bot's process is made of. Every field is required unless it
// says otherwise.
type Options struct {
	// Temporal is the client of the bot's namespace.
	Temporal client.Client
	// Namespace is its name, and TemporalAddress where its server is, for whom it
	// concerns that either is not there.
	Namespace, TemporalAddress string
	// Telegram is the Bot API.
	Telegram *telegram.Client
	// Token is the bot's token; only its id and its power to redact are used here.
	Token telegram.Token
	// Handler is the author's function.
	Handler activities.Handler
	// Handling is how it is run.
	Handling contract.Handling
	// Limits is what the bot may send.
	Limits limiter.Config
	// NoDuty makes a process that runs workflows and handlers and never talks to
	// Telegram by itself. Default false: it takes the duty when nobody has it.
	NoDuty bool
	// Address is where others reach the process by HTTP: it is shown to operators
	// while it is on duty, and posts are passed on to it. Default "": nowhere.
	Address string
	// Poll fetches updates by getUpdates while on duty. False takes none.
	Poll bool
	// Webhook takes posts while this process lives, on duty or not. Default nil:
	// none come.
	Webhook *starter.Webhook
	// Hook is the webhook that is set while on duty, where there is a Webhook.
	Hook telegram.WebhookRequest
	// TakeOver lets a webhook that is not ours be replaced, and any be removed
	// before the first poll. Default false: it is reported.
	TakeOver bool
	// AllowedUpdates are the kinds to poll for.
	AllowedUpdates []string
	// MaxUpdateAge ends older updates as expired. Default 0: none is too old.
	MaxUpdateAge time.Duration
	// NewIDs is for a Bot API server that was wiped. Default false.
	NewIDs bool
	// LateAfter is how long the oldest call may wait before health is degraded.
	// Default 0: for ever.
	LateAfter time.Duration
	// HeartbeatURL is asked for once a minute while this process is on duty and
	// ready. Default "": none.
	HeartbeatURL string
	// Numbers is opened by Run, for all who want to know what waits.
	Numbers *stats.Source
	// Health and Metrics take what there is to report.
	Health  *telemetry.Health
	Metrics *telemetry.Metrics
	// Log takes the rest.
	Log *slog.Logger
}
