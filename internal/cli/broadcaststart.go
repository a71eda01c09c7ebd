package cli

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

func (p Program) broadcastStartCommand(g *global) *cobra.Command {
	f, to := newBroadcastFlags(), &audienceFlags{}
	cmd := &cobra.Command{
		Use: "start NAME", Short: "Send one call to all chats of a file, each once; asks before it starts", Args: oneBroadcast,
		Long: "Send one call to all chats of a file. It says to how many, how long it takes and what it costs, and asks. It returns\n" +
			"once Temporal has all of it; the same command again goes on where it was broken off, and starts nothing twice.",
	}
	to.register(cmd.Flags())
	f.register(cmd.Flags())
	format := output(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l, err := p.newLaunch(args[0], f, to)
		if err != nil {
			return usage(err)
		}
		return p.ask(cmd.Context(), g, func(s *frontend, bot int64) error { return l.run(cmd.Context(), s, bot, format) })
	}
	return cmd
}

// launch is a broadcast on its way to Temporal.
type launch struct {
	Program
	*frontend
	flags     *broadcastFlags
	audience  *starter.Audience
	broadcast starter.Broadcast
	bot       int64
	plan      broadcastPlan
}

// newLaunch checks all that needs no server.
func (p Program) newLaunch(name string, f *broadcastFlags, to *audienceFlags) (*launch, error) {
	l := &launch{Program: p, flags: f}
	if err := f.validate(p, to.silent()); err != nil {
		return nil, err
	}
	f.now = time.Now()
	var err error
	if l.broadcast, err = f.broadcast(name, contract.BroadcastCall{}); err != nil {
		return nil, err
	}
	if l.audience, err = p.audience(to); err != nil {
		return nil, err
	}
	if err := l.seal(); err != nil {
		return nil, to.atLine(l.audience, err)
	}
	l.warnOfContent()
	return l, nil
}

// seal checks the content for everybody in the audience.
func (l *launch) seal() error {
	l.broadcast.Recipients = l.audience.Recipients
	return l.broadcast.Seal()
}

// warnOfContent tells of what is no mistake and seldom meant.
func (l *launch) warnOfContent() {
	call := l.broadcast.What.Call
	for _, path := range missingFiles(call.Params) {
		l.warn("%s cannot be read here: it has to be there where the bot sends", path)
	}
	if uploads(call.Params) {
		l.warn("it uploads a file to every chat, which Telegram slows down: upload it once, and give its file_id")
	}
	if !l.broadcast.What.Template && places(call.Params) {
		l.warn("it has {{ in it, and is sent as it stands: give --template to fill in fields")
	}
}

// places reports whether there is something to fill in.
func places(params any) bool {
	raw, _ := params.(json.RawMessage)
	return bytes.Contains(raw, []byte("{{"))
}
