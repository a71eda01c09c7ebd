package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/durabot/durabot/internal/config"
	"github.com/durabot/durabot/internal/telegram"
)

// telegramCall bounds one question to Telegram.
const telegramCall = 5 * time.Second

// examineTelegram asks for the bot's name and its webhook, which disturbs nobody.
func (d *doctor) examineTelegram(ctx context.Context) {
	token, ok := d.examineToken()
	if !ok {
		d.skip("no token to ask with", "telegram", "webhook")
		return
	}
	api, err := telegram.New(telegram.Options{BaseURL: d.Env.Value("TELEGRAM_API_URL"), Token: token, SendTimeout: telegramCall})
	if err != nil {
		d.find("telegram", levelProblem, "TELEGRAM_API_URL: "+err.Error(), "set it to a Bot API server, or not at all for Telegram's own")
		d.skip("no Bot API server to ask", "webhook")
		return
	}
	if d.examineAccount(ctx, api, token) {
		d.examineWebhook(ctx, api)
	} else {
		d.skip("Telegram does not answer this bot", "webhook")
	}
}

// examineToken finds only what is wrong with the token by itself; whether
// Telegram takes it is found later.
func (d *doctor) examineToken() (telegram.Token, bool) {
	token, err := d.Env.Token()
	switch {
	case errors.Is(err, config.ErrNoToken) && d.bot != 0:
		d.find("token", levelSkipped, fmt.Sprintf("none at hand; looking at bot %d", d.bot), "")
		return token, false
	case errors.Is(err, config.ErrNoToken):
		d.find("token", levelProblem, "no bot token", "set TELEGRAM_BOT_TOKEN to the token from @BotFather, or TELEGRAM_BOT_TOKEN_FILE to a file that holds it")
		return token, false
	case err != nil:
		d.find("token", levelProblem, err.Error(), "copy it anew from @BotFather")
		return token, false
	}
	if d.bot == 0 {
		d.bot = token.BotID()
	}
	return token, true
}

// examineAccount asks who the bot is and reports whether it may ask on. A refused
// token proves that Telegram is there.
func (d *doctor) examineAccount(ctx context.Context, api *telegram.Client, token telegram.Token) bool {
	me, err := api.Me(ctx)
	switch class := telegram.Classify(err, "getMe"); {
	case err == nil && d.bot != token.BotID():
		d.find("token", levelWarning, fmt.Sprintf("it is of bot %d, and --bot names %d", token.BotID(), d.bot), "give the same bot twice, or leave out --bot")
	case err == nil:
		d.find("token", levelOK, fmt.Sprintf("bot %d, @%s", me.ID, me.Username), "")
	case class == telegram.Unauthorized || class == telegram.NotFound:
		d.find("token", levelProblem, "Telegram refuses it: "+err.Error(), "copy it anew from @BotFather")
	default:
		d.find("token", levelOK, fmt.Sprintf("of bot %d, well-formed; nobody to prove it to", token.BotID()), "")
		d.find("telegram", levelProblem, err.Error(), "check the network, a proxy, and TELEGRAM_API_URL")
		return false
	}
	d.find("telegram", levelOK, "the Bot API answers", "")
	return err == nil
}
