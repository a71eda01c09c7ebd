package telegramsim

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"
)

// The bounds of setWebhook (tdlib/telegram-bot-api Client.cpp, do_set_webhook and
// get_webhook_max_connections).
const (
	defaultConnections = 40
	maxConnections     = 100
	maxSecret          = 256
	webhookSpacing     = time.Second
	secretLetters      = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
)

// webhookPorts are those of the real server; "" is HTTPS's own.
var webhookPorts = []string{"", "443", "80", "88", "8443"}

// webhook is what setWebhook set. The zero value is none.
type webhook struct {
	URL            string `json:"url"`
	Secret         string `json:"secret,omitempty"`
	MaxConnections int    `json:"max_connections"`
}

// askedWebhook reads the parameters of setWebhook. ip_address and certificate are not
// looked at.
func askedWebhook(c *call) webhook {
	n, given := c.integer("max_connections")
	if !given {
		n = defaultConnections
	}
	return webhook{URL: c.params["url"], Secret: c.params["secret_token"], MaxConnections: int(min(max(n, 1), maxConnections))}
}

// setWebhook keeps the order of the open server: the same webhook again changes
// allowed_updates only; for another one a waiting poll, the old webhook and, if
// asked, the queue are gone before the new one is looked at, so a setWebhook that is
// refused leaves no webhook behind. The real server opens a connection before it
// answers; here the first update shows who is there.
func (s *Sim) setWebhook(c *call) *answer {
	asked, now := askedWebhook(c), time.Now()
	switch {
	case asked.URL == "":
		return s.deleteWebhook(c)
	case now.Before(s.nextHook) && !s.opts.NoPollRules:
		return tooManyRequests(1)
	}
	s.nextHook = now.Add(webhookSpacing)
	if asked == s.hook && !c.flag("drop_pending_updates") {
		s.setAllowed(c.params["allowed_updates"])
		s.changed()
		return done("Webhook is already set")
	}
	s.abortPoll(conflict("terminated by setWebhook request"))
	s.closeWebhook()
	s.dropPending(c)
	if a := s.refuseWebhook(asked); a != nil {
		return a
	}
	s.setAllowed(c.params["allowed_updates"])
	s.openWebhook(asked)
	return done("Webhook was set")
}

func (s *Sim) deleteWebhook(c *call) *answer {
	had := s.hook.URL != ""
	s.closeWebhook()
	s.dropPending(c)
	if had {
		return done("Webhook was deleted")
	}
	return done("Webhook is already deleted")
}

// refuseWebhook is the error of a webhook that cannot be set, or nil. That the real
// server also refuses addresses of private networks is left out.
func (s *Sim) refuseWebhook(w webhook) *answer {
	address, err := w.address()
	switch {
	case err != nil:
		return badRequest("invalid webhook URL specified")
	case len(w.Secret) > maxSecret:
		return badRequest("secret token is too long")
	case strings.ContainsFunc(w.Secret, func(r rune) bool { return !strings.ContainsRune(secretLetters, r) }):
		return badRequest("secret token contains unallowed characters")
	case s.opts.PlainWebhooks:
		return nil
	case address.Scheme != "https":
		return badRequest("bad webhook: An HTTPS URL must be provided for webhook")
	case !slices.Contains(webhookPorts, address.Port()):
		return badRequest("bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443")
	}
	return nil
}

// address is where updates go. Without a scheme it is HTTPS.
func (w webhook) address() (*url.URL, error) {
	text := w.URL
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	address, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	if address.Hostname() == "" || (address.Scheme != "https" && address.Scheme != "http") {
		return nil, errors.New("not an address of the web")
	}
	return address, nil
}

// webhookInfo leaves out what is not set, as the real method does, and
// allowed_updates while they are the default.
func (s *Sim) webhookInfo(*call) *answer {
	s.queue.dropExpired(time.Now())
	info := map[string]any{
		"url": s.hook.URL, "has_custom_certificate": false,
		"pending_update_count": len(s.queue.items) + len(s.queue.strays),
	}
	if s.hook.URL != "" {
		info["max_connections"] = s.hook.MaxConnections
	}
	if h := s.courier; h != nil && !h.failedAt.IsZero() {
		info["last_error_date"], info["last_error_message"] = h.failedAt.Unix(), h.failure
	}
	if s.queue.allowed != nil {
		info["allowed_updates"] = s.queue.allowed
	}
	return ok(info)
}
