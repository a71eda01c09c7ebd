package cli_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const someToken = "123456789:AAAA-not-a-real-token-SECRET0000000"

func TestWrongUsageIsExitCodeTwoAndOneLine(t *testing.T) {
	t.Parallel()
	good := map[string]string{"TELEGRAM_BOT_TOKEN": someToken, "TEMPORAL_ADDRESS": "127.0.0.1:1"}
	for name, c := range map[string]struct {
		env  map[string]string
		args []string
		want string
	}{
		"command":       {good, []string{"frobnicate"}, `unknown command "frobnicate": see durabot --help`},
		"verb":          {good, []string{"update", "frobnicate"}, `unknown command "frobnicate": see durabot update --help`},
		"flag":          {good, []string{"run", "--frobnicate"}, "unknown flag: --frobnicate: see durabot run --help"},
		"argument":      {good, []string{"setup", "now"}, `durabot setup takes no arguments, got "now"`},
		"setting":       {good, []string{"run", "--chat-burst", "0"}, "--chat-burst: want 1 or more, got 0"},
		"handler":       {good, []string{"run", "--handler", "nobody"}, `--handler: want one of echo, got "nobody"`},
		"level":         {good, []string{"run", "--log-level", "loud"}, `--log-level: want debug, info, warn or error, got "loud"`},
		"format":        {good, []string{"run", "--log-format", "xml"}, `--log-format: want text or json, got "xml"`},
		"dev setting":   {good, []string{"dev", "--intake", "pigeon"}, `--intake: want poll, webhook or none, got "pigeon"`},
		"dev port":      {good, []string{"dev", "--temporal-port", "65000"}, "--temporal-port: want 1 to 64535, got 65000"},
		"limit":         {good, []string{"update", "list", "--limit", "1001"}, "--limit: want 1 to 1000, got 1001"},
		"chat":          {good, []string{"update", "list", "--chat", "'"}, `--chat: want a chat id such as 42 or -1001234567890, got "'"`},
		"kind":          {good, []string{"update", "list", "--kind", "'"}, `--kind: want a kind of update such as message or callback_query, got "'"`},
		"bot":           {good, []string{"update", "list", "--bot", "-3"}, "--bot: want the number in front of the token's colon, got -3"},
		"doctor's bot":  {good, []string{"doctor", "--bot", "-3"}, "--bot: want the number in front of the token's colon, got -3"},
		"update":        {good, []string{"update", "show", "x"}, `want an update_id or a workflow ID such as update/700000001/42, got "x"`},
		"dead letter":   {good, []string{"dead", "show", "order-17"}, `want the id of a dead letter such as message/order-17 or update/42, got "order-17"`},
		"half an id":    {good, []string{"dead", "replay", "message/"}, `want the id of a dead letter such as message/order-17 or update/42, got "message/"`},
		"which":         {good, []string{"dead", "replay", "--yes"}, "say which: ids as `durabot dead list` shows them, a filter such as --died-of rejected, or --every"},
		"limit alone":   {good, []string{"dead", "discard", "--limit", "3", "--yes"}, "say which: ids as `durabot dead list` shows them, a filter such as --died-of rejected, or --every"},
		"both":          {good, []string{"dead", "replay", "message/k", "--chat", "1"}, "give ids or a filter, not both"},
		"every and":     {good, []string{"dead", "replay", "--every", "--chat", "1", "--yes"}, "--every: leave it out beside a filter"},
		"cause":         {good, []string{"dead", "list", "--died-of", "age"}, `--died-of: want one of rejected, uncertain, gave_up, handler_failed, undecodable, too_large, moved_twice, got "age"`},
		"dead chat":     {good, []string{"dead", "list", "--chat", "him"}, `--chat: want a chat id such as 42 or -1001234567890, or @name, got "him"`},
		"dead limit":    {good, []string{"dead", "list", "--limit", "-1"}, "--limit: want 0 (all) or more, got -1"},
		"dead age":      {good, []string{"dead", "list", "--older-than", "-1h"}, "--older-than, --newer-than: want a duration such as 24h, got -1h0m0s"},
		"edit of many":  {good, []string{"dead", "replay", "message/a", "message/b", "--edit", "{}"}, "--edit: name one dead letter by its id"},
		"edit":          {good, []string{"dead", "replay", "message/a", "--edit", "[SECRET]"}, `--edit: want a JSON object such as {"text":"hi"}, or @FILE that holds one`},
		"edit file":     {good, []string{"dead", "replay", "message/a", "--edit", "@/nowhere"}, "--edit: open /nowhere: no such file or directory"},
		"new time":      {good, []string{"dead", "replay", "message/a", "--ttl", "-1h"}, "--ttl: want a duration such as 1h, got -1h0m0s"},
		"no update":     {good, []string{"update", "show"}, "durabot update show takes an update_id or a workflow ID, got 0 arguments: see durabot update show --help"},
		"variable":      {map[string]string{"DURABOT_CHAT_BURST": "many"}, []string{"run"}, `DURABOT_CHAT_BURST: want a int, got "many"`},
		"no webhook":    {good, []string{"run", "--intake", "webhook"}, "--webhook-url: want the address that Telegram is to post to, such as https://bot.example.org/telegram/webhook"},
		"no secret":     {good, []string{"run", "--intake", "webhook", "--webhook-url", "https://bot.example.org/SECRET"}, "--webhook-secret: want a secret, so that nobody else can post updates: set DURABOT_WEBHOOK_SECRET, or --webhook-secret-file to a file that holds it"},
		"bad secret":    {good, []string{"run", "--intake", "webhook", "--webhook-url", "https://bot.example.org/SECRET", "--webhook-secret", "SECRET!"}, "--webhook-secret: want 1 to 256 letters, digits, _ or - in each, got another character or too many"},
		"secret file":   {good, []string{"run", "--intake", "webhook", "--webhook-secret-file", "/nowhere"}, "--webhook-secret-file: open /nowhere: no such file or directory"},
		"no TLS":        {good, []string{"run", "--intake", "webhook", "--webhook-url", "http://bot.example.org/SECRET", "--webhook-secret", "s"}, "--webhook-url: want https://, for Telegram posts to nothing else, got http:// at bot.example.org"},
		"no server":     {good, []string{"run", "--intake", "webhook", "--webhook-url", "https://bot.example.org", "--webhook-secret", "s", "--http", ""}, "--http: a webhook needs an address to listen on, got none"},
		"advertised":    {good, []string{"run", "--advertise", "here"}, `--advertise: want HOST:PORT, got "here"`},
		"health":        {good, []string{"health", "--http", "here"}, `--http: want HOST:PORT, got "here"`},
		"no token":      {nil, []string{"run"}, "no bot token: set TELEGRAM_BOT_TOKEN to the token from @BotFather, or TELEGRAM_BOT_TOKEN_FILE to a file that holds it"},
		"no bot":        {nil, []string{"update", "list"}, "no bot: give --bot ID, the number in front of the token's colon, or set TELEGRAM_BOT_TOKEN"},
		"bad API":       {map[string]string{"TELEGRAM_BOT_TOKEN": someToken, "TELEGRAM_API_URL": "ftp://x"}, []string{"run"}, "TELEGRAM_API_URL: telegram client: base URL: expected http:// or https:// and a host"},
		"no token file": {map[string]string{"TELEGRAM_BOT_TOKEN_FILE": "/nowhere"}, []string{"run"}, "TELEGRAM_BOT_TOKEN_FILE: open /nowhere: no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t.Context(), c.env, c.args...)
			require.Equal(t, 2, got.code)
			require.Equal(t, "durabot: "+c.want+"\n", got.errout)
			require.Empty(t, got.out)
		})
	}
}

func TestMalformedTokenIsNeverQuoted(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"12345-nearly-right-SECRET", "x:SECRETSECRET", "123456789:SECRET SECRET", "0:SECRETSECRET"} {
		for _, verb := range []string{"run", "doctor"} {
			c := run(t.Context(), map[string]string{"TELEGRAM_BOT_TOKEN": text, "TEMPORAL_ADDRESS": "127.0.0.1:1"}, verb)
			require.NotZero(t, c.code)
			require.Contains(t, c.out+c.errout, "TELEGRAM_BOT_TOKEN: bot token: expected <bot id>:<secret>")
			require.NotContains(t, c.out+c.errout, "SECRET")
		}
	}
}

func TestFlagWinsOverItsVariable(t *testing.T) {
	t.Parallel()
	env := map[string]string{"DURABOT_OUTPUT": "json", "DURABOT_BOT": "7", "TEMPORAL_ADDRESS": "127.0.0.1:1"}
	require.Contains(t, run(t.Context(), env, "doctor").out, `"found": "none at hand; looking at bot 7"`)
	require.Contains(t, run(t.Context(), env, "doctor", "-o", "table", "--bot", "8").out, "none at hand; looking at bot 8\n")
}

func TestErrorsAreRedacted(t *testing.T) {
	t.Parallel()
	c := run(t.Context(), map[string]string{"TELEGRAM_BOT_TOKEN": someToken}, someToken)
	require.Equal(t, 2, c.code)
	require.NotContains(t, c.errout, "SECRET")
}

func TestHelpListsEveryVerb(t *testing.T) {
	t.Parallel()
	c := run(t.Context(), nil)
	require.Zero(t, c.code)
	require.Empty(t, c.errout)
	for _, verb := range []string{"dev", "run", "sim", "setup", "doctor", "health", "send", "message", "update", "dead", "broadcast", "chat", "pause", "resume", "stats", "version"} {
		require.Regexp(t, `(?m)^  `+verb+` +\S`, c.out)
	}
	require.Regexp(t, `^durabot \S+\n$`, run(t.Context(), nil, "version").out)
	require.Contains(t, run(t.Context(), nil, "update").out, "Tell one update's story")
}

func TestVerbsDoNotWaitForATemporalThatIsAway(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"setup"}, {"update", "list", "--bot", "7"}, {"update", "show", "update/7/42"}} {
		c := run(t.Context(), map[string]string{"TEMPORAL_ADDRESS": "127.0.0.1:1"}, args...)
		require.Equal(t, 1, c.code)
		require.Equal(t, "durabot: no answer from Temporal at 127.0.0.1:1: start it or set TEMPORAL_ADDRESS\n", c.errout)
	}
}

// A firewall that drops, or another program at the port: somebody takes the
// connection and says nothing.
func TestTemporalThatSaysNothingIsGivenUpInSeconds(t *testing.T) {
	t.Parallel()
	deaf, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer deaf.Close()
	env := map[string]string{"TEMPORAL_ADDRESS": deaf.Addr().String(), "DURABOT_BOT": "7"}
	began := time.Now()
	c := run(t.Context(), env, "update", "list")
	require.Equal(t, 1, c.code)
	require.Equal(t, "durabot: no answer from Temporal at "+deaf.Addr().String()+": start it or set TEMPORAL_ADDRESS\n", c.errout)
	require.Less(t, time.Since(began), 8*time.Second)
}

func TestDoctorGoesOnWithoutATemporalThatSaysNothing(t *testing.T) {
	t.Parallel()
	deaf, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer deaf.Close()
	d, c := examine(t, map[string]string{"TEMPORAL_ADDRESS": deaf.Addr().String()}, "--bot", "7")
	require.Equal(t, 1, c.code)
	levels := d.levels()
	require.Equal(t, "problem", levels["temporal"])
	for _, name := range []string{"namespace", "retention", "search_attributes", "workers", "duty", "queue", "stuck_updates", "failed_updates", "dead_letters"} {
		require.Equal(t, "skipped", levels[name], name)
	}
	require.Equal(t, "ok", levels["limits"])
}

func TestTheIDOfAGroupIsAnArgumentLikeAnyOther(t *testing.T) {
	t.Parallel()
	env := map[string]string{"TEMPORAL_ADDRESS": "127.0.0.1:1", "DURABOT_BOT": "7"}
	for _, args := range [][]string{
		{"chat", "show", "-1001234567890"},
		{"chat", "show", "-o", "json", "-42"},
		{"chat", "show", "--output=json", "-42"},
		{"chat", "show", "--", "-42"},
		{"chat", "clear", "-42", "--reason", "-1"},
		{"update", "list", "--chat", "-42"},
		{"dead", "list", "--chat", "-42"},
		{"chat", "erase", "--yes", "-42"},
	} {
		require.Contains(t, run(t.Context(), env, args...).errout, "no answer from Temporal", args)
	}
	require.Contains(t, run(t.Context(), env, "-42").errout, "unknown shorthand flag")
}
