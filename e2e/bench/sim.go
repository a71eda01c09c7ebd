package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/durabot/durabot/internal/telegramsim"
)

// simCommand as the first argument makes this program the simulator of another bench.
const simCommand = "sim"

// simulate serves a simulator until standard input ends, which it does however
// the bench ends. Its address is the first line of standard output. A person
// whom the bot has not met is one who started it.
func simulate(args []string) error {
	flags := flag.NewFlagSet(simCommand, flag.ExitOnError)
	o := telegramsim.Options{Unknown: telegramsim.UnknownCreate, PlainWebhooks: true}
	flags.StringVar(&o.Token, "token", "", "the bot's token")
	flags.DurationVar(&o.Latency, "latency", 0, "time of every answer")
	if err := flags.Parse(args); err != nil {
		return err
	}
	sim, err := telegramsim.New(o)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	server := &http.Server{Handler: sim.Handler(), ReadHeaderTimeout: time.Minute}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return sim.Close()
}

// sim is a Telegram simulator in a process of its own.
type sim struct {
	url   string
	cmd   *exec.Cmd
	stdin io.Closer
}

func startSim(token string, latency time.Duration) (*sim, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, simCommand, "-token", token, "-latency", latency.String())
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &sim{cmd: cmd, stdin: stdin}
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the simulator does not start: %w", err), s.stop())
	}
	s.url = "http://" + strings.TrimSpace(address)
	return s, nil
}

func (s *sim) stop() error { return errors.Join(s.stdin.Close(), s.cmd.Wait()) }
