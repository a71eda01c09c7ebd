package cli

import (
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/durabot/durabot/internal/contract"
)

// sendFlags say which message to send, and when; or which file names them.
type sendFlags struct {
	order

	from string
	wait bool
}

func newSendFlags() *sendFlags {
	return &sendFlags{order: order{
		mark:     func(field string) string { return "--" + field },
		priority: &choice{value: string(contract.Normal), words: []string{string(contract.Urgent), string(contract.Normal), string(contract.Bulk)}},
		delivery: &choice{value: string(contract.AtLeastOnce), words: []string{string(contract.AtLeastOnce), string(contract.AtMostOnce)}},
	}}
}

func (f *sendFlags) register(flags *pflag.FlagSet) {
	f.given = flags.Changed
	flags.StringVar(&f.chat, "chat", "", "chat id or @name; fills in chat_id where --params lacks it")
	flags.StringVar(&f.text, "text", "", "text of a plain message")
	flags.StringVar(&f.method, "method", "", "Bot API method, in place of --text")
	flags.StringVar(&f.params, "params", "", "its parameters: a JSON object, or @FILE that holds one")
	flags.StringVar(&f.key, "key", "", "idempotency key: with the same key it is sent once (default: a new one)")
	flags.Var(f.priority, "priority", "the class in which it waits")
	flags.Var(f.delivery, "delivery", "what to do when nobody knows whether Telegram took it: send again, or never")
	flags.DurationVar(&f.ttl, "ttl", contract.DefaultTTL, "how long it may wait for delivery before it expires")
	flags.StringVar(&f.at, "at", "", "time at which it leaves, such as 2030-01-31T09:00:00Z")
	flags.DurationVar(&f.in, "in", 0, "time from now after which it leaves, such as 10m")
	flags.BoolVar(&f.split, "split", false, "cut a text that is too long for one message into several")
	flags.BoolVar(&f.plain, "plain-fallback", false, "send without formatting what Telegram cannot parse")
	flags.StringVar(&f.after, "after", "", "key of a message that has to end first")
	flags.BoolVar(&f.delivered, "after-delivered", false, "and has to be delivered, or this one is cancelled")
	flags.StringVar(&f.from, "from", "", "a file of messages, one JSON object a line; - is standard input")
	flags.BoolVar(&f.wait, "wait", false, "wait until it has ended; exit code 1 unless it was delivered")
}

// besideFrom are the flags that stand beside --from: they hold for the lines that
// do not say otherwise.
var besideFrom = []string{"priority", "delivery", "ttl", "split", "plain-fallback"}

// lines reports whether the messages are in a file.
func (f *sendFlags) lines() bool { return f.given("from") }

// checkFrom refuses what could hold for one message only.
func (f *sendFlags) checkFrom() error {
	if f.from == "" {
		return f.fault("from", "want a file, or - for standard input")
	}
	for _, name := range []string{"chat", "text", "method", "params", "key", "at", "in", "after", "after-delivered", "wait"} {
		if f.given(name) {
			return f.fault(name, "it is about one message: beside --from only --%s are taken", strings.Join(besideFrom, ", --"))
		}
	}
	if f.given("ttl") && f.ttl <= 0 {
		return f.fault("ttl", "want more than 0, got %v", f.ttl)
	}
	return nil
}

// defaults are what a line gets that does not say otherwise.
func (f *sendFlags) defaults() order {
	given := map[string]bool{}
	for _, name := range besideFrom {
		given[name] = f.given(name)
	}
	d := f.order
	d.mark, d.given = lineField, func(field string) bool { return given[field] }
	d.now = time.Now()
	return d
}
