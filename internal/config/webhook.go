package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// Webhook is what a bot whose updates are posted to it is told.
type Webhook struct {
	// URL is where Telegram posts to: https, unless the Bot API server is not
	// Telegram's own. Its path may be a secret. Required.
	URL string
	// Secrets keep strangers out: 1 to 256 letters, digits, _ and - each. The first
	// is given to Telegram, all are taken, so that one can be replaced while posts
	// with the other are on their way. Required.
	Secrets Secrets
	// Connections is how many posts Telegram has open at a time, 1 to 100. Default 40.
	Connections int
}

// Secrets are shared with Telegram. However they are printed, they do not show.
// The zero value holds none.
type Secrets struct {
	// A pointer to a pointer, because fmt follows one to what is in a field.
	box **[]string
}

// Reveal returns the secrets themselves. It is the only way they leave this type.
func (s Secrets) Reveal() []string {
	if s.box == nil {
		return nil
	}
	return **s.box
}

// hiddenLength is the length from which Redact looks for a secret: a shorter one
// turns up by chance in ordinary text.
const hiddenLength = 8

// Redact returns the text with every secret replaced by a placeholder.
func (s Secrets) Redact(text string) string {
	for _, secret := range s.Reveal() {
		if len(secret) >= hiddenLength {
			text = strings.ReplaceAll(text, secret, "[redacted]")
		}
	}
	return text
}

// Set reads them from one text, separated by commas. It never fails, since its
// error would quote them: Validate tells what is wrong.
func (s *Secrets) Set(text string) error {
	var all []string
	for secret := range strings.SplitSeq(text, ",") {
		if secret = strings.TrimSpace(secret); secret != "" {
			all = append(all, secret)
		}
	}
	box := &all
	s.box = &box
	return nil
}

// String is empty, so that no help and no error shows them.
func (s *Secrets) String() string { return "" }

// Type is what help calls the value.
func (s *Secrets) Type() string { return "secret" }

// ReadFile reads them from a file, as Set does.
func (s *Secrets) ReadFile(path string) error {
	data, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return fmt.Errorf("--webhook-secret-file: %w", err)
	}
	return s.Set(string(data))
}

var secretForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

// validateWebhook quotes neither the address nor a secret.
func (s Settings) validateWebhook() error {
	w := s.Webhook
	u, err := url.Parse(w.URL)
	switch {
	case s.HTTP == "":
		return errors.New("--http: a webhook needs an address to listen on, got none")
	case w.URL == "":
		return errors.New("--webhook-url: want the address that Telegram is to post to, such as https://bot.example.org/telegram/webhook")
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("--webhook-url: want an address such as https://bot.example.org/telegram/webhook")
	case u.Scheme == "http" && s.official():
		return fmt.Errorf("--webhook-url: want https://, for Telegram posts to nothing else, got http:// at %s", u.Host)
	case len(w.Secrets.Reveal()) == 0:
		return errors.New("--webhook-secret: want a secret, so that nobody else can post updates: set DURABOT_WEBHOOK_SECRET, or --webhook-secret-file to a file that holds it")
	case w.Connections < 1 || w.Connections > 100:
		return fmt.Errorf("--webhook-connections: want 1 to 100, got %d", w.Connections)
	}
	for _, secret := range w.Secrets.Reveal() {
		if !secretForm.MatchString(secret) {
			return errors.New("--webhook-secret: want 1 to 256 letters, digits, _ or - in each, got another character or too many")
		}
	}
	return nil
}

// official reports whether the Bot API server is Telegram's own.
func (s Settings) official() bool {
	u, err := url.Parse(s.APIURL)
	return s.APIURL == "" || err == nil && u.Hostname() == "api.telegram.org"
}

// hostPort reports whether a text names a host and a port.
func hostPort(text string) bool {
	host, port, err := net.SplitHostPort(text)
	if err != nil || host == "" || strings.ContainsAny(host, "/@?#") {
		return false
	}
	n, err := strconv.Atoi(port)
	return err == nil && n > 0 && n < 1<<16
}
