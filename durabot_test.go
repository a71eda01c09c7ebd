package durabot_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot"
	"github.com/durabot/durabot/internal/telegram"
)

func TestAFileIsAParameterThatUploadsIt(t *testing.T) {
	t.Parallel()
	call, err := durabot.Call{Method: "sendPhoto", Params: durabot.Params{"chat_id": 42, "photo": durabot.File("cat.jpg")}}.Seal()
	require.NoError(t, err)
	require.JSONEq(t, `{"chat_id":42,"photo":{"@file":"cat.jpg"}}`, string(call.Params.(json.RawMessage)))
}

func TestTheDefaultsNeedATokenOnly(t *testing.T) {
	t.Parallel()
	o := durabot.Defaults()
	require.ErrorContains(t, o.Validate(), "TELEGRAM_BOT_TOKEN")
	require.NotNil(t, o.Log)
	require.NotEmpty(t, o.AllowedUpdates)
}

func TestRunRefusesOptionsThatCannotBe(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, durabot.Run(t.Context(), durabot.Echo, durabot.Defaults()), "TELEGRAM_BOT_TOKEN")
}

func TestRunNeedsNoLogAndEndsWithItsContext(t *testing.T) {
	t.Parallel()
	o := durabot.Defaults()
	var err error
	o.Token, err = telegram.ParseToken("123456:ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghi")
	require.NoError(t, err)
	o.HTTP, o.Log, o.Temporal.HostPort = "", nil, "127.0.0.1:1"
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, durabot.Run(ctx, durabot.Echo, o))
}

func TestOutsideAHandlerAReaderReadsNothing(t *testing.T) {
	t.Parallel()
	_, err := durabot.Reader(t.Context()).Read(t.Context(), "getChat", durabot.Params{"chat_id": 42})
	require.ErrorContains(t, err, "not a handler's")
}

func TestAReaderDoesNotSend(t *testing.T) {
	t.Parallel()
	_, err := durabot.Reader(t.Context()).Read(t.Context(), "sendMessage", durabot.Params{"chat_id": 42, "text": "x"})
	require.ErrorContains(t, err, "return it as a Call instead")
}

func TestTheZeroValuesOfACallAreTheDefaults(t *testing.T) {
	t.Parallel()
	for _, call := range []durabot.Call{
		{Method: "sendMessage"},
		{Method: "sendMessage", Priority: durabot.Normal, Delivery: durabot.AtLeastOnce},
		{Method: "sendMessage", Priority: durabot.Urgent, Delivery: durabot.AtMostOnce},
		{Method: "sendMessage", Priority: durabot.Bulk},
	} {
		_, err := call.Seal()
		require.NoError(t, err)
	}
}

// Options come from the environment of this very process, which tests must not
// change while others run; config's own tests cover the rest.
func TestFromEnvReadsTheProcessesEnvironment(t *testing.T) {
	t.Setenv("TELEGRAM_BOT_TOKEN", "123456:ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghi")
	t.Setenv("TELEGRAM_API_URL", "http://127.0.0.1:8081")
	o, err := durabot.FromEnv()
	require.NoError(t, err)
	require.Equal(t, int64(123456), o.Token.BotID())
	require.Equal(t, "http://127.0.0.1:8081", o.APIURL)
}
