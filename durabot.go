package durabot

import (
	"context"
	"log/slog"
	"os"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/cli"
	"github.com/durabot/durabot/internal/config"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
)

// Handler decides what an update is answered with. An error, or a panic, is
// tried again, three times in all; then the update is dead and the chat goes on.
type Handler = activities.Handler

// Update is one event as Telegram delivered it.
type Update = contract.Update

// Call is one Bot API call to make.
type Call = contract.Call

// Params are a call's parameters, for those who use no Bot API library.
type Params = map[string]any

// The classes in which calls wait for the budget. Default Normal.
const (
	Urgent = contract.Urgent
	Normal = contract.Normal
	Bulk   = contract.Bulk
)

// What happens when nobody knows whether Telegram took a call. Default AtLeastOnce.
const (
	AtLeastOnce = contract.AtLeastOnce
	AtMostOnce  = contract.AtMostOnce
)

// Main makes a whole program of a handler: every verb of the durabot command
// line, such as dev and run. It does not return.
func Main(handler Handler) {
	os.Exit(cli.Main(handler, map[string]activities.Handler{"echo": Echo}))
}

// Options are the settings of Run; see Defaults and FromEnv.
type Options = config.Settings

// Token is a bot's token. However it is printed, it shows a placeholder.
type Token = telegram.Token

// ParseToken reads a token of the form <bot id>:<secret>. Its error never
// quotes it.
func ParseToken(text string) (Token, error) { return telegram.ParseToken(text) }

// Defaults are the settings of a bot that is told its token only.
func Defaults() Options { return config.Defaults() }

// FromEnv are the defaults with token, Telegram's address and Temporal's
// settings from the environment, as durabot run reads them.
func FromEnv() (Options, error) { return config.FromEnv(os.LookupEnv) }

// Run runs a bot inside a program of your own until ctx ends, and stops it
// within 25 s. A Temporal that is not there yet is waited for.
func Run(ctx context.Context, handler Handler, o Options) error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return cli.Serve(ctx, handler, o)
}

// Reader reads Telegram from inside a handler: get* methods and files. A handler
// sends by returning calls.
func Reader(ctx context.Context) activities.Reader { return activities.ReaderFrom(ctx) }

// File is a parameter that uploads the file at path, in place of a file_id or a
// URL: Params{"photo": durabot.File("cat.jpg")}. The file is read when the call
// is made, by the process that makes it.
func File(path string) any { return map[string]string{"@file": path} }
