// Package config reads what durabot is told: flags first, then DURABOT_…
// variables, then defaults; the bot's token and Telegram's address from
// TELEGRAM_… variables; Temporal's own settings from its own variables and
// profiles.
//
// The command line calls it. It opens no connection. Every error names the
// setting, what was expected of it and what to do.
package config
