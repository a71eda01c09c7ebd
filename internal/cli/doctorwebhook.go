package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/durabot/durabot/internal/config"
	"github.com/durabot/durabot/internal/telegram"
	"github.com/durabot/durabot/starter"
)

// errorFresh is how old Telegram's last error may be to count while updates wait:
// it lets up to two minutes pass between two tries.
const errorFresh = 5 * time.Minute

// examineWebhook looks whether the webhook that is set, or that none is, fits the
// way in which updates are to come in.
func (d *doctor) examineWebhook(ctx context.Context, api *telegram.Client) {
	info, err := api.WebhookInfo(ctx)
	switch {
	case err != nil:
		d.find("webhook", levelWarning, err.Error(), "run `durabot doctor` again")
	case d.settings.Intake == "webhook":
		d.examineOwnWebhook(info)
	case info.URL == "":
		d.find("webhook", levelOK, webhookText(info), "")
	case d.settings.Intake == "poll":
		d.find("webhook", levelProblem, webhookText(info),
			"remove it with `durabot run --take-over` or the Bot API's deleteWebhook: polling cannot work beside it; or give --intake webhook")
	default:
		d.find("webhook", levelWarning, webhookText(info), "its owner gets the updates, durabot none")
	}
}

// examineOwnWebhook is for a bot whose updates are to be posted to it.
func (d *doctor) examineOwnWebhook(info telegram.WebhookInfo) {
	found, url := webhookText(info), d.settings.Webhook.URL
	differs := d.webhookDiffers(info)
	switch {
	case info.URL == "":
		d.find("webhook", levelProblem, found, "start `durabot run --intake webhook`, or see its log: the process on duty sets it")
	case url != "" && !starter.SameAddress(info.URL, url):
		d.find("webhook", levelProblem, found+"; it is not that of --webhook-url, at "+starter.WebhookHost(url),
			"start `durabot run` with --take-over to replace it")
	case info.PendingUpdateCount > 0 && time.Since(info.LastErrorDate) < errorFresh:
		d.find("webhook", levelProblem, found, "see that Telegram's posts reach /telegram/webhook of a running bot, with the right secret")
	case len(differs) > 0:
		d.find("webhook", levelWarning, found+"; "+strings.Join(differs, "; "), "restart the bot with these settings: it sets them when it goes on duty")
	default:
		d.find("webhook", levelOK, found, "")
	}
}

// webhookText names the webhook's host alone: its path is often the secret that
// keeps strangers out.
func webhookText(info telegram.WebhookInfo) string {
	if info.URL == "" {
		return fmt.Sprintf("none; %d updates wait", info.PendingUpdateCount)
	}
	text := fmt.Sprintf("one is set at %s; %d updates wait", starter.WebhookHost(info.URL), info.PendingUpdateCount)
	if info.MaxConnections > 0 {
		text += fmt.Sprintf("; %d connections at most", info.MaxConnections)
	}
	if info.LastErrorMessage != "" {
		text += fmt.Sprintf("; last error %s ago: %s", brief(time.Since(info.LastErrorDate)), info.LastErrorMessage)
	}
	return text
}

// webhookDiffers lists what the webhook that is set has other than the settings.
func (d *doctor) webhookDiffers(info telegram.WebhookInfo) (all []string) {
	have, want := info.AllowedUpdates, d.settings.AllowedUpdates
	if len(have) == 0 { // Telegram does not list its default
		have = config.DefaultAllowedUpdates
	}
	if missing := lacking(want, have); missing != "" {
		all = append(all, "it does not deliver "+missing)
	}
	if more := lacking(have, want); more != "" {
		all = append(all, "it delivers "+more+" as well")
	}
	if info.MaxConnections > 0 && info.MaxConnections != d.settings.Webhook.Connections {
		all = append(all, fmt.Sprintf("--webhook-connections is %d", d.settings.Webhook.Connections))
	}
	return all
}

// lacking lists what of all is not in the others.
func lacking(all, others []string) string {
	var missing []string
	for _, kind := range all {
		if !slices.Contains(others, kind) {
			missing = append(missing, kind)
		}
	}
	return strings.Join(missing, ", ")
}
