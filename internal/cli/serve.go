package cli

import (
	"cmp"
	"context"
	"fmt"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/config"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/stats"
	"github.com/durabot/durabot/internal/telegram"
	"github.com/durabot/durabot/internal/telemetry"
	"github.com/durabot/durabot/starter"
	"github.com/durabot/durabot/worker"
	"github.com/durabot/durabot/worker/limiter"
)

// handlerAttempts is how often an update's handler is tried in all.
const handlerAttempts = 3

// Serve runs a bot until ctx ends. It waits for a Temporal that comes late, and
// gives up on settings that cannot work.
func Serve(ctx context.Context, handler activities.Handler, s config.Settings) error {
	if err := s.Validate(); err != nil {
		return usage(err)
	}
	api, err := telegram.New(telegram.Options{BaseURL: s.APIURL, Token: s.Token})
	if err != nil {
		return usage(fmt.Errorf("TELEGRAM_API_URL: %w", err))
	}
	limits := limiter.Config{
		GlobalPerSecond: s.GlobalPerSecond, PaidPerSecond: s.PaidPerSecond, ChatPerSecond: s.ChatPerSecond, ChatBurst: s.ChatBurst,
		GroupPerMinute: s.GroupPerMinute, InFlight: limiter.DefaultConfig().InFlight,
	}
	metrics, err := telemetry.NewMetrics()
	if err != nil {
		return err
	}
	health, numbers := telemetry.NewHealth(), &stats.Source{}
	metrics.Registry.MustRegister(telemetry.NewNumbers(numbers), telemetry.NewTroubles(health))
	address := ""
	var posts *starter.Webhook
	if s.Intake == "webhook" {
		posts = starter.NewWebhook(s.Webhook.Secrets.Reveal(), metrics, s.Log)
	}
	if s.HTTP != "" {
		server, err := telemetry.Listen(ctx, s.HTTP, health, metrics, numbers)
		if err != nil {
			return err
		}
		defer server.Close(ctx)
		if posts != nil { // before Temporal is there: such a post is told to come again
			server.Mount(starter.WebhookPath, posts)
		}
		address = server.Addr()
		s.Log.InfoContext(ctx, "listening", "address", address)
	}
	temporal, err := dial(ctx, s, health, metrics)
	if err != nil || ctx.Err() != nil {
		return err
	}
	defer temporal.Close()
	if !s.NoDuty { // such a process leaves it to the others to talk to Telegram
		if err := greet(ctx, api, s); err != nil || ctx.Err() != nil {
			return err
		}
	}
	return worker.Run(ctx, worker.Options{
		Temporal: temporal, Namespace: s.Temporal.Namespace, TemporalAddress: s.Temporal.HostPort, Telegram: api, Token: s.Token, Handler: handler,
		Handling: contract.Handling{Timeout: s.HandlerTimeout, Attempts: handlerAttempts, AnswerCallbacks: s.AnswerCallbacks},
		Limits:   limits, NoDuty: s.NoDuty, Address: cmp.Or(s.Advertise, address), Poll: s.Intake == "poll", Webhook: posts, Hook: hook(s), TakeOver: s.TakeOver,
		AllowedUpdates: s.AllowedUpdates, MaxUpdateAge: s.MaxUpdateAge,
		NewIDs: s.NewIDs, LateAfter: s.LateAfter, HeartbeatURL: s.HeartbeatURL, Numbers: numbers, Health: health, Metrics: metrics, Log: s.Log,
	})
}

// hook is the webhook that the process on duty sets.
func hook(s config.Settings) telegram.WebhookRequest {
	if s.Intake != "webhook" {
		return telegram.WebhookRequest{}
	}
	return telegram.WebhookRequest{
		URL: s.Webhook.URL, Secret: s.Webhook.Secrets.Reveal()[0], MaxConnections: s.Webhook.Connections, AllowedUpdates: s.AllowedUpdates,
	}
}

// dial makes the client and waits until the server and the namespace are there.
func dial(ctx context.Context, s config.Settings, health *telemetry.Health, metrics *telemetry.Metrics) (client.Client, error) {
	options := s.Temporal
	stuck := telemetry.NewStuck(health)
	options.Logger = sdklog.NewStructuredLogger(stuck.Log(telemetry.Quiet(s.Log)))
	options.MetricsHandler = stuck.Metrics(metrics.Temporal)
	c, err := client.NewLazyClient(options)
	if err != nil {
		return nil, fmt.Errorf("TEMPORAL_ADDRESS %s: %w", options.HostPort, err)
	}
	if err := awaitTemporal(ctx, c, options, health, s.Log); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}
