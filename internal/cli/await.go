package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/durabot/durabot/internal/config"
	"github.com/durabot/durabot/internal/telegram"
	"github.com/durabot/durabot/internal/telemetry"
	"github.com/durabot/durabot/starter"
	"github.com/durabot/durabot/worker"
)

const (
	temporalRetry = 2 * time.Second
	temporalWord  = 10 * time.Second // between two lines about a Temporal that is away
	temporalCall  = 5 * time.Second
	// telegramPatience is how long a first contact with Telegram may fail before
	// the address is taken for wrong.
	telegramPatience = 30 * time.Second
	// leastRetention is what deduplication needs at least: Telegram keeps an
	// update for 24 h, and it may come again as long after it was handled.
	leastRetention = 48 * time.Hour
)

// awaitTemporal returns when the namespace can be used or ctx ends. A server
// that does not answer is waited for; one that answers "no" is an error.
func awaitTemporal(ctx context.Context, c client.Client, o client.Options, health *telemetry.Health, log *slog.Logger) error {
	var spoken time.Time
	for ctx.Err() == nil {
		retention, err := describe(ctx, c, o.Namespace)
		if err == nil {
			health.Well(telemetry.PartTemporal)
			if retention < leastRetention {
				log.WarnContext(ctx, "the namespace forgets closed workflows too soon to recognise every duplicate: run `durabot setup`",
					"retention", retention.String(), "needed", leastRetention.String())
			}
			return nil
		}
		if refusal := refused(err, o); refusal != nil {
			return refusal
		}
		text := fmt.Sprintf("no answer from Temporal at %s: start it or set TEMPORAL_ADDRESS", o.HostPort)
		health.Down(telemetry.PartTemporal, text)
		if time.Since(spoken) >= temporalWord {
			spoken = time.Now()
			log.WarnContext(ctx, "waiting for Temporal", "what", text, "error", err)
		}
		pause(ctx, temporalRetry)
	}
	return nil
}

func describe(ctx context.Context, c client.Client, namespace string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, temporalCall)
	defer cancel()
	res, err := c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
	return res.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration(), err
}

// refused is what to do about an answer that waiting will not change, nil for
// every other error.
func refused(err error, o client.Options) error {
	return worker.Refusal(err, o.HostPort, o.Namespace)
}

// greet makes sure of the token, and that no webhook stands in the way.
func greet(ctx context.Context, api *telegram.Client, s config.Settings) error {
	me, err := firstContact(ctx, api, s.Log)
	if err != nil || ctx.Err() != nil {
		return err
	}
	if me.ID != s.Token.BotID() {
		s.Log.WarnContext(ctx, "getMe names another bot than the token", "bot", me.ID)
	}
	if s.Intake != "poll" || s.TakeOver {
		return nil
	}
	info, err := api.WebhookInfo(ctx)
	if err == nil && info.URL != "" {
		return fmt.Errorf("a webhook at %s is set for this bot, so polling cannot work: remove it with --take-over or the Bot API's deleteWebhook, or run with --intake webhook or none",
			starter.WebhookHost(info.URL))
	}
	if err != nil && ctx.Err() == nil {
		s.Log.WarnContext(ctx, "getWebhookInfo failed: a webhook, if there is one, will show when polling", "error", err)
	}
	return nil
}

// firstContact calls getMe until it answers, for half a minute. A 429 is an
// answer, and its time is kept.
func firstContact(ctx context.Context, api *telegram.Client, log *slog.Logger) (telegram.User, error) {
	started := time.Now()
	for wait := time.Second; ; wait = min(2*wait, 8*time.Second) {
		me, err := api.Me(ctx)
		delay := wait
		switch class := telegram.Classify(err, "getMe"); {
		case err == nil || ctx.Err() != nil:
			return me, nil
		case class == telegram.Unauthorized || class == telegram.NotFound:
			return me, fmt.Errorf("TELEGRAM_BOT_TOKEN: Telegram refuses this token (%w): copy it anew from @BotFather", err)
		case class == telegram.RateLimited:
			if te, ok := errors.AsType[*telegram.Error](err); ok {
				delay = max(te.RetryAfter, wait)
			}
			started = time.Now().Add(delay)
		case time.Since(started) > telegramPatience:
			return me, fmt.Errorf("TELEGRAM_API_URL: no answer from the Bot API for %v: %w", telegramPatience, err)
		}
		log.WarnContext(ctx, "waiting for Telegram", "error", err)
		pause(ctx, delay)
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
