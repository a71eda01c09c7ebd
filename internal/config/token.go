package config

import (
	"errors"
	"fmt"
	"os"

	"github.com/durabot/durabot/internal/telegram"
)

// ErrNoToken is the answer to a missing token.
var ErrNoToken = errors.New("no bot token: set TELEGRAM_BOT_TOKEN to the token from @BotFather, or TELEGRAM_BOT_TOKEN_FILE to a file that holds it")

// Env looks a variable up, as os.LookupEnv does.
type Env func(name string) (string, bool)

// Value is a variable's value, "" when it is not set.
func (e Env) Value(name string) string {
	v, _ := e(name)
	return v
}

// Token reads the bot's token from TELEGRAM_BOT_TOKEN, or from the file that
// TELEGRAM_BOT_TOKEN_FILE names. No error quotes it.
func (e Env) Token() (telegram.Token, error) {
	name, text := "TELEGRAM_BOT_TOKEN", e.Value("TELEGRAM_BOT_TOKEN")
	if file := e.Value("TELEGRAM_BOT_TOKEN_FILE"); text == "" && file != "" {
		data, err := os.ReadFile(file) //nolint:gosec // the operator names the file
		if err != nil {
			return telegram.Token{}, fmt.Errorf("TELEGRAM_BOT_TOKEN_FILE: %w", err)
		}
		name, text = "TELEGRAM_BOT_TOKEN_FILE", string(data)
	}
	if text == "" {
		return telegram.Token{}, ErrNoToken
	}
	token, err := telegram.ParseToken(text)
	if err != nil {
		return telegram.Token{}, fmt.Errorf("%s: %w", name, err)
	}
	return token, nil
}
