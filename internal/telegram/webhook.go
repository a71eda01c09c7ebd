package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"
)

// SecretHeader is the header of a post in which Telegram repeats the secret that
// the webhook was set with.
const SecretHeader = "X-Telegram-Bot-Api-Secret-Token"

// hideFrom is the length from which a path or a secret is looked for in the text
// of an error: a shorter one is no secret and would shred it.
const hideFrom = 8

// WebhookRequest is what setWebhook takes.
type WebhookRequest struct {
	// URL is where Telegram posts updates to. Its path may be a secret, so errors
	// of SetWebhook name its host alone.
	URL string
	// Secret comes along with each post, in SecretHeader: 1 to 256 of letters,
	// digits, _ and -. Empty means none.
	Secret string
	// AllowedUpdates nil keeps the server's setting; empty means its default.
	AllowedUpdates []string
	// MaxConnections is how many posts Telegram has open at a time, 1 to 100; 0
	// leaves it to the server, which takes 40.
	MaxConnections int
}

func (r WebhookRequest) params() (json.RawMessage, error) {
	fields := map[string]any{"url": r.URL}
	if r.Secret != "" {
		fields["secret_token"] = r.Secret
	}
	if r.AllowedUpdates != nil {
		fields["allowed_updates"] = r.AllowedUpdates
	}
	if r.MaxConnections != 0 {
		fields["max_connections"] = r.MaxConnections
	}
	return json.Marshal(fields)
}

// SetWebhook has Telegram post updates in place of answering polls, and ends a
// poll that waits. What waits at Telegram is kept and comes by post. That it
// succeeds proves a connection, not that anybody takes the posts.
func (c *Client) SetWebhook(ctx context.Context, r WebhookRequest) error {
	const method = "setWebhook"
	params, err := r.params()
	if err != nil {
		return &Error{Method: method, Err: err}
	}
	_, err = c.Call(ctx, method, params)
	return r.hide(err)
}

// hide takes the URL and the secret out of what the server said.
func (r WebhookRequest) hide(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	hidden := *e
	words := r.hidden()
	hidden.Description, hidden.body = words.Replace(e.Description), words.Replace(e.body)
	return &hidden
}

func (r WebhookRequest) hidden() *strings.Replacer {
	words := []string{r.Secret}
	if u, err := url.Parse(r.URL); err == nil {
		words = append([]string{r.URL, u.RequestURI(), u.EscapedPath()}, words...)
	}
	var pairs []string
	for _, word := range words {
		if len(word) >= hideFrom {
			pairs = append(pairs, word, placeholder)
		}
	}
	return strings.NewReplacer(pairs...)
}

// DeleteWebhook has Telegram answer polls again. What waits is kept. That no
// webhook was set is fine.
func (c *Client) DeleteWebhook(ctx context.Context) error {
	_, err := c.Call(ctx, "deleteWebhook", nil)
	return err
}

// WebhookInfo is the part of getWebhookInfo that tells whether, and how well,
// Telegram delivers by webhook.
type WebhookInfo struct {
	// URL is empty when no webhook is set. Its path may be a secret.
	URL string
	// PendingUpdateCount is how many updates wait, by webhook or poll.
	PendingUpdateCount int
	// LastErrorDate is zero when there was no error.
	LastErrorDate time.Time
	// LastErrorMessage is Telegram's text for people.
	LastErrorMessage string
	// MaxConnections is how many posts Telegram has open at a time, 0 when it does
	// not say.
	MaxConnections int
	// AllowedUpdates are the kinds that are delivered, nil for the default: all but
	// chat_member, message_reaction and message_reaction_count.
	AllowedUpdates []string
}

// WebhookInfo calls getWebhookInfo.
func (c *Client) WebhookInfo(ctx context.Context) (WebhookInfo, error) {
	const method = "getWebhookInfo"
	raw, err := c.Call(ctx, method, nil)
	if err != nil {
		return WebhookInfo{}, err
	}
	var fields struct {
		URL         *string  `json:"url"`
		Pending     int      `json:"pending_update_count"`
		Date        int64    `json:"last_error_date"`
		Message     string   `json:"last_error_message"`
		Connections int      `json:"max_connections"`
		Allowed     []string `json:"allowed_updates"`
	}
	if json.Unmarshal(raw, &fields) != nil || fields.URL == nil {
		return WebhookInfo{}, c.odd(method, raw)
	}
	info := WebhookInfo{
		URL: *fields.URL, PendingUpdateCount: fields.Pending, LastErrorMessage: c.token.scrub(fields.Message, maxExcerpt),
		MaxConnections: fields.Connections, AllowedUpdates: fields.Allowed,
	}
	if fields.Date != 0 {
		info.LastErrorDate = time.Unix(fields.Date, 0)
	}
	return info, nil
}
