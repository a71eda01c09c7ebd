package devserver

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const (
	// DefaultRetention is how long closed workflows stay. Temporal's dev server
	// keeps them for 24 h, as long as Telegram keeps an update, and durabot's
	// deduplication needs more than that.
	DefaultRetention = 7 * 24 * time.Hour
	// DefaultStopTimeout bounds a graceful stop; the server usually needs 2 s.
	DefaultStopTimeout = 10 * time.Second
	// startTimeout bounds a start whose context has no earlier deadline. A warm
	// start takes about one second; the first one reads 240 MB from the disk.
	startTimeout = 60 * time.Second
)

// Options configures one dev server.
type Options struct {
	// Path is the temporal binary, as [Find] returns it. Required.
	Path string
	// LogFile receives what the server prints, appended. Required: without it a
	// failed start could not be explained.
	LogFile string
	// IP is the address that the server and its UI listen on. Default: 127.0.0.1.
	IP string
	// Port is the port of the frontend. Default: a free one.
	Port int
	// UIPort is the port of the web UI. Default: no UI.
	UIPort int
	// DBFile is the SQLite file that survives restarts; its directory is made
	// when missing. Default: memory only, everything is lost at exit.
	DBFile string
	// SearchAttributes are registered as Keyword in the namespace.
	// Default: TgChat, TgKind, TgOutcome.
	SearchAttributes []string
	// Retention is the least time that closed workflows are kept; a longer
	// setting found in DBFile stays. Default: [DefaultRetention].
	Retention time.Duration
	// StopTimeout is how long Stop waits before it kills.
	// Default: [DefaultStopTimeout].
	StopTimeout time.Duration
}

func (o Options) validate() error {
	switch {
	case o.Path == "":
		return errors.New("dev server: Path is missing; Find returns it")
	case o.LogFile == "":
		return errors.New("dev server: LogFile is missing")
	default:
		return nil
	}
}

func (o Options) withDefaults() Options {
	if o.IP == "" {
		o.IP = "127.0.0.1"
	}
	if o.SearchAttributes == nil {
		o.SearchAttributes = []string{"TgChat", "TgKind", "TgOutcome"}
	}
	if o.Retention <= 0 {
		o.Retention = DefaultRetention
	}
	if o.StopTimeout <= 0 {
		o.StopTimeout = DefaultStopTimeout
	}
	return o
}

// directories makes room for the files. They are the owner's alone, because
// histories hold what people wrote to the bot.
func (o Options) directories() error {
	for _, file := range []string{o.LogFile, o.DBFile} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// arguments is the command line of the server. WAL with synchronous=normal more
// than doubles the throughput of the SQLite store; the new matcher understands
// priorities; one partition keeps a queue's order and its limits exact. A dev
// server has one shard, whose transfer queue is read 20 times a second by
// default: each task then waits up to 50 ms once there are ten updates a second.
func (o Options) arguments() []string {
	args := []string{
		"server", "start-dev",
		"--ip", o.IP,
		"--port", strconv.Itoa(o.Port),
		"--log-level", "error",
		"--dynamic-config-value", "matching.useNewMatcher=true",
		"--dynamic-config-value", "matching.numTaskqueueReadPartitions=1",
		"--dynamic-config-value", "matching.numTaskqueueWritePartitions=1",
		"--dynamic-config-value", "history.transferProcessorMaxPollRPS=1000",
	}
	if o.UIPort == 0 {
		args = append(args, "--headless")
	} else {
		args = append(args, "--ui-ip", o.IP, "--ui-port", strconv.Itoa(o.UIPort))
	}
	if o.DBFile != "" {
		args = append(args, "--db-filename", o.DBFile,
			"--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=normal")
	}
	for _, name := range o.SearchAttributes {
		args = append(args, "--search-attribute", name+"=Keyword")
	}
	return args
}

func (o Options) address() string { return net.JoinHostPort(o.IP, strconv.Itoa(o.Port)) }

func (o Options) uiAddress() string { return net.JoinHostPort(o.IP, strconv.Itoa(o.UIPort)) }
