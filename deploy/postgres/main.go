// Command temporal-postgres is a Temporal server on PostgreSQL with the command
// line of the dev server (temporal server start-dev), so that whatever runs
// against the one runs against the other:
//
//	TEMPORAL_CLI_PATH=bin/temporal-postgres make e2e
//
// Each --db-filename is a database of its own in the PostgreSQL that POSTGRES
// names (user:password@host:port), made when it is not there; the file itself only
// marks that. Four history shards and one process, so it is no production server; see
// deploy/compose.yaml and deploy/k8s for these.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "temporal-postgres:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	db, err := databases(os.Getenv("POSTGRES"), o.file)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := db.prepare(); err != nil {
		return err
	}
	server, err := build(o, db)
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	defer server.Stop() //nolint:errcheck // it is about to exit
	if err := namespace(ctx, net.JoinHostPort(o.ip, fmt.Sprint(o.port))); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// options are those of the dev server that matter here.
type options struct {
	ip      string
	port    int
	file    string
	dynamic map[string]any
}

// parse takes the dev server's command line. What is about its own store, its UI
// and its search attributes, which durabot registers itself, is passed over.
func parse(args []string) (options, error) {
	if len(args) < 2 || args[0] != "server" || args[1] != "start-dev" {
		return options{}, errors.New("usage: temporal-postgres server start-dev --port N [--ip IP] [--db-filename FILE] [--dynamic-config-value KEY=VALUE]")
	}
	o := options{dynamic: map[string]any{}}
	flags := flag.NewFlagSet("start-dev", flag.ContinueOnError)
	flags.StringVar(&o.ip, "ip", "127.0.0.1", "address to listen on")
	flags.IntVar(&o.port, "port", 7233, "port to listen on")
	flags.StringVar(&o.file, "db-filename", "", "which database; empty is a new one")
	flags.Func("dynamic-config-value", "KEY=VALUE", func(pair string) error {
		key, value, _ := strings.Cut(pair, "=")
		o.dynamic[strings.ToLower(key)] = plain(value)
		return nil
	})
	for _, other := range []string{"log-level", "sqlite-pragma", "search-attribute", "ui-ip", "ui-port"} {
		flags.Func(other, "not looked at", func(string) error { return nil })
	}
	flags.Bool("headless", true, "there is no UI")
	if err := flags.Parse(args[2:]); err != nil {
		return o, err
	}
	if o.file == "" {
		o.file = fmt.Sprint("memory-", time.Now().UnixNano())
	}
	return o, nil
}

// plain is a value as the server's settings have it.
func plain(value string) any {
	if n, err := strconv.Atoi(value); err == nil {
		return n
	}
	if yes, err := strconv.ParseBool(value); err == nil {
		return yes
	}
	return value
}

// named is a database's name for a file.
func named(file string) string {
	sum := sha256.Sum256([]byte(file))
	return "durabot_" + hex.EncodeToString(sum[:8])
}
