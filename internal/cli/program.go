package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/config"
)

// Program is a durabot binary: a handler and the world it runs in.
type Program struct {
	// Handler is the author's.
	Handler activities.Handler
	// Stock are handlers that --handler can choose instead, by name.
	Stock map[string]activities.Handler
	// Args are the arguments without the program's name.
	Args []string
	// Env looks variables up.
	Env config.Env
	// Stdin is read by verbs that ask, or are told to read it; nil is empty.
	Stdin io.Reader
	// Stdout takes answers, Stderr errors and logs.
	Stdout, Stderr io.Writer
}

// Main runs the program on the process's own arguments and streams until it is
// done or interrupted, and returns the exit code. A second interrupt ends the
// process at once.
func Main(handler activities.Handler, stock map[string]activities.Handler) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) // the root of all contexts
	defer stop()
	context.AfterFunc(ctx, stop)
	return Program{
		Handler: handler, Stock: stock, Args: os.Args[1:], Env: os.LookupEnv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}.Run(ctx)
}

// usageError is a mistake in how the program was called.
type usageError struct{ error }

// Unwrap returns the mistake itself.
func (u usageError) Unwrap() error { return u.error }

// usage marks an error as a mistake of the caller; nil stays nil.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// Run executes one command and returns the exit code.
func (p Program) Run(ctx context.Context) int {
	root := p.command() //nolint:contextcheck // commands get theirs from ExecuteContext
	root.SetArgs(withGroups(p.Args))
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintln(p.Stderr, "durabot:", oneLine(p.redact(err.Error())))
	if _, ok := errors.AsType[usageError](err); ok {
		return 2
	}
	return 1
}

var negative = regexp.MustCompile(`^-[0-9]+$`)

// withGroups lets the id of a group, which is negative, stand as an argument
// like every other chat's: pflag takes it for a flag unless it comes behind "--".
// Behind a flag's name it is the value, but for one that takes none.
func withGroups(args []string) []string {
	var flags, ids []string
	for i, arg := range args {
		switch {
		case arg == "--":
			return args
		case i > 0 && negative.MatchString(arg) && (!strings.HasPrefix(args[i-1], "-") || strings.Contains(args[i-1], "=") || args[i-1] == "--yes"):
			ids = append(ids, arg)
		default:
			flags = append(flags, arg)
		}
	}
	if len(ids) == 0 {
		return args
	}
	return append(append(flags, "--"), ids...)
}

// redact is the last lock on the token, for errors from elsewhere.
func (p Program) redact(text string) string {
	token, err := p.Env.Token()
	if err != nil {
		return text
	}
	return token.Redact(text)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// global are the flags of every command.
type global struct {
	bot       int64
	logLevel  string
	logFormat string
}

func (p Program) command() *cobra.Command {
	g := &global{}
	root := &cobra.Command{
		Use:           "durabot",
		Short:         "Run a Telegram bot on Temporal: nothing lost, nothing answered twice, limits kept",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return usage(p.Env.Fill(cmd.Flags()))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(fmt.Errorf("%w: see %s --help", err, cmd.CommandPath()))
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	flags := root.PersistentFlags()
	flags.Int64Var(&g.bot, "bot", 0, "the bot's id, where no token is at hand")
	flags.StringVar(&g.logLevel, "log-level", "info", "debug, info, warn or error")
	flags.StringVar(&g.logFormat, "log-format", "", "text or json (default: text on a terminal)")
	root.AddCommand(
		p.devCommand(g), p.runCommand(g), p.simCommand(g), p.setupCommand(), p.doctorCommand(g), p.healthCommand(),
		p.sendCommand(g), p.messageCommand(g), p.updateCommand(g), p.deadCommand(g), p.broadcastCommand(g), p.chatCommand(g), p.pauseCommand(g), p.resumeCommand(g), p.statsCommand(g), p.versionCommand(),
	)
	return root
}

// noArgs refuses arguments, and at the root unknown commands.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasSubCommands() {
		return usage(fmt.Errorf("unknown command %q: see %s --help", args[0], cmd.CommandPath()))
	}
	return usage(fmt.Errorf("%s takes no arguments, got %q", cmd.CommandPath(), args[0]))
}
