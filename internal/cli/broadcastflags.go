package cli

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

// What can be asked for a request of which nobody knows whether Telegram took it.
const (
	uncertainReport = "report"
	uncertainResend = "resend"
)

// broadcastFlags say what each recipient gets, how fast and from when on, and how
// the command goes about it.
type broadcastFlags struct {
	order

	template, paid bool
	rate           float64
	uncertain      *choice
	reason, test   string

	dryRun, yes, wait bool
}

func newBroadcastFlags() *broadcastFlags {
	return &broadcastFlags{
		order:     order{mark: func(field string) string { return "--" + field }},
		uncertain: &choice{value: uncertainReport, words: []string{uncertainReport, uncertainResend}},
	}
}

func (f *broadcastFlags) register(flags *pflag.FlagSet) {
	f.given = flags.Changed
	flags.StringVar(&f.text, "text", "", "text that each gets")
	flags.StringVar(&f.method, "method", "", "Bot API method, in place of --text")
	flags.StringVar(&f.params, "params", "", "its parameters without chat_id: a JSON object, or @FILE that holds one")
	flags.BoolVar(&f.template, "template", false, "fill in each recipient's fields, such as {{.name}}")
	flags.Float64Var(&f.rate, "rate", 0, "recipients a second at most; 0 for what the bot's limits allow")
	flags.StringVar(&f.at, "at", "", "time at which it begins, such as 2030-01-31T09:00:00Z")
	flags.DurationVar(&f.in, "in", 0, "time from now after which it begins, such as 10m")
	flags.DurationVar(&f.ttl, "ttl", contract.DefaultTTL, "how long a recipient may wait, from its turn on, before it expires")
	flags.Var(f.uncertain, "on-uncertain", "when nobody knows whether Telegram took it: report that, or send it again")
	flags.BoolVar(&f.paid, "paid", false, "pay Telegram with Stars for more than its free 30 a second")
	flags.BoolVar(&f.plain, "plain-fallback", false, "send without formatting what Telegram cannot parse")
	flags.StringVar(&f.reason, "reason", "", "why, for those who come after")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show what would be done, and start nothing")
	flags.StringVar(&f.test, "test", "", "send what the first recipient would get to this chat id or @name, and start nothing")
	flags.BoolVar(&f.yes, "yes", false, "do not ask whether to go on")
	flags.BoolVar(&f.wait, "wait", false, "wait until it has ended; exit code 1 when it was cancelled")
}

// validate checks what the flags say beside the content. Silent is set when
// nobody can be asked, whoever is there.
func (f *broadcastFlags) validate(p Program, silent bool) error {
	switch {
	case f.dryRun && f.test != "":
		return errors.New("--dry-run or --test: give one of them")
	case f.wait && (f.dryRun || f.test != ""):
		return errors.New("--wait: nothing is started that could be waited for: leave it out")
	}
	if err := checkReason(f.reason, false); err != nil {
		return err
	}
	if f.test != "" {
		if _, err := chatParam(f.test); err != nil {
			return f.fault("test", "%w", err)
		}
		return nil
	}
	if !f.yes && !f.dryRun && (silent || !p.attended()) {
		return errUnasked
	}
	return nil
}

// says reports whether the flags name what is sent.
func (f *broadcastFlags) says() bool {
	return f.given("text") || f.given("method") || f.given("params")
}

// broadcast is what the flags ask for, for nobody yet. What they do not name is as
// in what.
func (f *broadcastFlags) broadcast(name string, what contract.BroadcastCall) (starter.Broadcast, error) {
	b := starter.Broadcast{Name: name, What: what, Paid: f.paid, By: operator(), Reason: f.reason}
	if err := starter.CheckBroadcastName(name); err != nil {
		return b, err
	}
	var err error
	if b.At, err = f.leave(); err != nil {
		return b, err
	}
	if err := f.policy(&b.What); err != nil {
		return b, err
	}
	if f.says() || b.What.Call.Method == "" {
		b.What.Template = f.template
		err = f.fill(&b.What.Call)
	}
	return b, err
}

// policy is how it is sent.
func (f *broadcastFlags) policy(what *contract.BroadcastCall) error {
	if f.given("ttl") {
		if what.Call.TTL = f.ttl; f.ttl <= 0 {
			return f.fault("ttl", "want more than 0, got %v", f.ttl)
		}
	}
	if f.given("rate") {
		what.Rate = f.rate
	}
	if f.given("template") {
		what.Template = f.template
	}
	if f.given("plain-fallback") {
		what.Call.PlainFallback = f.plain
	}
	if f.given("on-uncertain") || what.Call.Delivery == "" {
		what.Call.Delivery = contract.AtMostOnce
		if f.uncertain.value == uncertainResend {
			what.Call.Delivery = contract.AtLeastOnce
		}
	}
	return nil
}

// fill puts in what is sent.
func (f *broadcastFlags) fill(call *contract.Call) error {
	method, params, err := f.content()
	if err != nil {
		return err
	}
	call.Method = method
	call.Params, err = unescaped(params)
	return err
}
