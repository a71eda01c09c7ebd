package config_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/config"
)

func secrets(t *testing.T, text string) config.Secrets {
	t.Helper()
	var s config.Secrets
	require.NoError(t, s.Set(text))
	return s
}

// posted are settings of a bot whose updates are posted to it.
func posted(t *testing.T) config.Settings {
	t.Helper()
	s := valid(t)
	s.Intake = "webhook"
	s.Webhook.URL, s.Webhook.Secrets = "https://bot.example.org/SECRET-path", secrets(t, "SECRET-a")
	return s
}

func TestAWebhookNeedsItsAddressAndASecret(t *testing.T) {
	t.Parallel()
	require.NoError(t, posted(t).Validate())
	for _, row := range []struct {
		name   string
		change func(*config.Settings)
		want   string
	}{
		{"no server", func(s *config.Settings) { s.HTTP = "" }, "--http: a webhook needs an address to listen on, got none"},
		{"no address", func(s *config.Settings) { s.Webhook.URL = "" }, "--webhook-url: want the address that Telegram is to post to, such as https://"},
		{"no URL", func(s *config.Settings) { s.Webhook.URL = "bot.example.org/SECRET-path" }, "--webhook-url: want an address such as https://"},
		{"broken URL", func(s *config.Settings) { s.Webhook.URL = "https://%zz/SECRET-path" }, "--webhook-url: want an address such as https://"},
		{"no TLS", func(s *config.Settings) { s.Webhook.URL = "http://bot.example.org/SECRET-path" }, "--webhook-url: want https://, for Telegram posts to nothing else, got http:// at bot.example.org"},
		{"no TLS, said so", func(s *config.Settings) {
			s.Webhook.URL, s.APIURL = "http://bot.example.org/SECRET-path", "https://api.telegram.org/"
		}, "--webhook-url: want https://"},
		{"no secret", func(s *config.Settings) { s.Webhook.Secrets = config.Secrets{} }, "--webhook-secret: want a secret, so that nobody else can post updates: set DURABOT_WEBHOOK_SECRET"},
		{"only commas", func(s *config.Settings) { s.Webhook.Secrets = secrets(t, " , ,") }, "--webhook-secret: want a secret"},
		{"space", func(s *config.Settings) { s.Webhook.Secrets = secrets(t, "good,SECRET b") }, "--webhook-secret: want 1 to 256 letters, digits, _ or - in each"},
		{"long", func(s *config.Settings) { s.Webhook.Secrets = secrets(t, strings.Repeat("x", 257)) }, "--webhook-secret: want 1 to 256"},
		{"few connections", func(s *config.Settings) { s.Webhook.Connections = 0 }, "--webhook-connections: want 1 to 100, got 0"},
		{"many connections", func(s *config.Settings) { s.Webhook.Connections = 101 }, "--webhook-connections: want 1 to 100, got 101"},
	} {
		s := posted(t)
		row.change(&s)
		err := s.Validate()
		require.ErrorContains(t, err, row.want, row.name)
		require.NotContains(t, err.Error(), "SECRET-", row.name)
		require.NotContains(t, err.Error(), "SECRET b", row.name)
		s.Intake = "poll"
		require.NoError(t, s.Validate(), "nothing of it matters to a bot that polls")
	}
}

func TestAServerThatIsNotTelegramsMayPostWithoutTLS(t *testing.T) {
	t.Parallel()
	s := posted(t)
	s.Webhook.URL, s.APIURL = "http://127.0.0.1:8080/telegram/webhook", "http://127.0.0.1:8081"
	require.NoError(t, s.Validate())
}

func TestSecretsAreSeparatedByCommas(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"": nil, "a": {"a"}, "new,old": {"new", "old"}, " new , old \n": {"new", "old"}, ",a,,": {"a"}, "a b": {"a b"},
	} {
		require.Equal(t, want, secrets(t, text).Reveal(), text)
	}
	s := secrets(t, "a,b")
	require.NoError(t, s.Set("c"))
	require.Equal(t, []string{"c"}, s.Reveal(), "the last word counts")
	require.Empty(t, config.Secrets{}.Reveal())
}

func TestSecretsComeFromAFile(t *testing.T) {
	t.Parallel()
	var s config.Secrets
	require.NoError(t, s.ReadFile(file(t, "new,old\n")))
	require.Equal(t, []string{"new", "old"}, s.Reveal())
	err := s.ReadFile("/does/not/exist")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "--webhook-secret-file: ")
}

func TestSecretsDoNotShowHoweverTheyArePrinted(t *testing.T) {
	t.Parallel()
	s := posted(t)
	s.Webhook.URL = ""
	var texts []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		texts = append(texts, fmt.Sprintf(verb, s.Webhook), fmt.Sprintf(verb, &s.Webhook.Secrets), fmt.Sprintf(verb, s.Webhook.Secrets))
	}
	data, err := json.Marshal(s.Webhook)
	require.NoError(t, err)
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("settings", "webhook", s.Webhook, "secrets", s.Webhook.Secrets)
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.Var(&s.Webhook.Secrets, "webhook-secret", "help")
	for _, text := range append(texts, string(data), log.String(), flags.FlagUsages()) {
		require.NotContains(t, text, "SECRET")
		require.NotContains(t, text, fmt.Sprintf("%x", "SECRET"))
	}
}

func TestAVariableSetsTheSecretsAndIsNeverQuoted(t *testing.T) {
	t.Parallel()
	var s config.Secrets
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.Var(&s, "webhook-secret", "help")
	require.NoError(t, env(map[string]string{"DURABOT_WEBHOOK_SECRET": `SECRET"b`}).Fill(flags))
	require.Equal(t, []string{`SECRET"b`}, s.Reveal(), "what is wrong with it is told without it")
}

func TestSecretsAreTakenOutOfText(t *testing.T) {
	t.Parallel()
	s := secrets(t, "new-SECRET,old-SECRET,short")
	require.Equal(t, "a [redacted] and [redacted], in short", s.Redact("a new-SECRET and old-SECRET, in short"))
	require.Equal(t, "as it is", config.Secrets{}.Redact("as it is"))
}
