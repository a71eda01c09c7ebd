package config_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/config"
	"github.com/durabot/durabot/internal/telegram"
)

const goodToken = "123456:ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghi"

// env is an environment of these variables only.
func env(vars map[string]string) config.Env {
	return func(name string) (string, bool) {
		value, ok := vars[name]
		return value, ok
	}
}

func valid(t *testing.T) config.Settings {
	t.Helper()
	s := config.Defaults()
	var err error
	s.Token, err = telegram.ParseToken(goodToken)
	require.NoError(t, err)
	return s
}

func TestTheDefaultsNeedATokenOnly(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, config.Defaults().Validate(), config.ErrNoToken)
	require.NoError(t, valid(t).Validate())
}

func TestTheDefaultsAreWhatTheHelpSays(t *testing.T) {
	t.Parallel()
	s := config.Defaults()
	require.Equal(t, "127.0.0.1:8080", s.HTTP, "loopback, for there is no authentication")
	require.Equal(t, "poll", s.Intake)
	require.True(t, s.AnswerCallbacks)
	require.Zero(t, s.MaxUpdateAge)
	require.False(t, s.NewIDs)
	require.Equal(t, 5*time.Second, s.HandlerTimeout)
	require.InDelta(t, 28, s.GlobalPerSecond, 0)
	require.InDelta(t, 1000, s.PaidPerSecond, 0)
	require.InDelta(t, 1, s.ChatPerSecond, 0)
	require.Equal(t, 3, s.ChatBurst)
	require.Equal(t, 20, s.GroupPerMinute)
	require.Equal(t, 5*time.Minute, s.LateAfter)
	require.Empty(t, s.HeartbeatURL)
	require.False(t, s.TakeOver)
	require.Empty(t, s.Advertise)
	require.Equal(t, config.Webhook{Connections: 40}, s.Webhook)
	require.NotNil(t, s.Log)
	require.Len(t, s.AllowedUpdates, 24)
	for _, onRequest := range []string{"chat_member", "message_reaction", "message_reaction_count"} {
		require.NotContains(t, s.AllowedUpdates, onRequest)
	}
}

func TestTheDefaultsOfOneBotAreNotThoseOfAnother(t *testing.T) {
	t.Parallel()
	config.Defaults().AllowedUpdates[0] = "changed"
	require.Equal(t, "message", config.Defaults().AllowedUpdates[0])
}

func TestValidateNamesTheFlagThatIsWrong(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		change func(*config.Settings)
		want   string
	}{
		{"no token", func(s *config.Settings) { s.Token = telegram.Token{} }, "TELEGRAM_BOT_TOKEN"},
		{"intake", func(s *config.Settings) { s.Intake = "push" }, `--intake: want poll, webhook or none, got "push"`},
		{"no intake", func(s *config.Settings) { s.Intake = "" }, "--intake"},
		{"advertised", func(s *config.Settings) { s.Advertise = "bot" }, `--advertise: want HOST:PORT, got "bot"`},
		{"advertised port", func(s *config.Settings) { s.Advertise = "bot:0" }, "--advertise"},
		{"advertised address", func(s *config.Settings) { s.Advertise = "http://bot:80" }, "--advertise"},
		{"advertised no host", func(s *config.Settings) { s.Advertise = ":8080" }, "--advertise"},
		{"handler timeout", func(s *config.Settings) { s.HandlerTimeout = 0 }, "--handler-timeout: want more than 0, got 0s"},
		{"update age", func(s *config.Settings) { s.MaxUpdateAge = -time.Second }, "--max-update-age: want 0 (off) or more, got -1s"},
		{"global rate", func(s *config.Settings) { s.GlobalPerSecond = -1 }, "--global-per-second: want 0 (off) or more, got -1"},
		{"global rate NaN", func(s *config.Settings) { s.GlobalPerSecond = math.NaN() }, "--global-per-second"},
		{"paid rate", func(s *config.Settings) { s.PaidPerSecond = -1 }, "--paid-per-second: want 0 (off) or more, got -1"},
		{"paid rate NaN", func(s *config.Settings) { s.PaidPerSecond = math.NaN() }, "--paid-per-second"},
		{"chat rate", func(s *config.Settings) { s.ChatPerSecond = -0.5 }, "--chat-per-second: want 0 (off) or more, got -0.5"},
		{"chat rate NaN", func(s *config.Settings) { s.ChatPerSecond = math.NaN() }, "--chat-per-second"},
		{"burst", func(s *config.Settings) { s.ChatBurst = 0 }, "--chat-burst: want 1 or more, got 0"},
		{"group rate", func(s *config.Settings) { s.GroupPerMinute = -1 }, "--group-per-minute: want 0 (off) or more, got -1"},
		{"late", func(s *config.Settings) { s.LateAfter = -time.Minute }, "--late-after: want 0 (off) or more, got -1m0s"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := valid(t)
			row.change(&s)
			require.ErrorContains(t, s.Validate(), row.want)
		})
	}
}

func TestZeroSwitchesALimitOff(t *testing.T) {
	t.Parallel()
	s := valid(t)
	s.Intake, s.GlobalPerSecond, s.PaidPerSecond, s.ChatPerSecond, s.GroupPerMinute, s.HTTP, s.LateAfter = "none", 0, 0, 0, 0, "", 0
	require.NoError(t, s.Validate())
}

func TestAHeartbeatURLIsAnAddressAndIsNeverQuoted(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"", "https://hc.example/ping/1?key=2", "http://127.0.0.1:9/x", "https://user:pass@hc.example"} {
		s := valid(t)
		s.HeartbeatURL = raw
		require.NoError(t, s.Validate(), raw)
	}
	for _, raw := range []string{"SECRET", "ftp://hc.example/SECRET", "https:///SECRET", "https://:80/SECRET", "hc.example/SECRET", "https://%zz/SECRET", " https://hc.example/SECRET"} {
		s := valid(t)
		s.HeartbeatURL = raw
		require.EqualError(t, s.Validate(), "--heartbeat-url: want an address such as https://monitor.example/ping/ID, or none", raw)
	}
}

func TestFromEnvReadsTokenAddressAndTemporal(t *testing.T) {
	t.Parallel()
	s, err := config.FromEnv(env(map[string]string{
		"TELEGRAM_BOT_TOKEN": goodToken, "TELEGRAM_API_URL": "http://127.0.0.1:8081",
		"TEMPORAL_ADDRESS": "temporal.example:7233", "TEMPORAL_CONFIG_FILE": t.TempDir() + "/none.toml",
	}))
	require.NoError(t, err)
	require.Equal(t, int64(123456), s.Token.BotID())
	require.Equal(t, "http://127.0.0.1:8081", s.APIURL)
	require.Equal(t, "temporal.example:7233", s.Temporal.HostPort)
	require.Equal(t, 3, s.ChatBurst, "the rest are the defaults")
	require.NoError(t, s.Validate())

	_, err = config.FromEnv(env(nil))
	require.ErrorIs(t, err, config.ErrNoToken)
}
