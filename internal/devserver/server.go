package devserver

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// ErrExited says that the server ended without being asked to.
var ErrExited = errors.New("the Temporal dev server exited")

// Server is one run of a dev server. Its methods are safe for concurrent use.
type Server struct {
	options Options // with defaults and the real port
	child   *process
	logFrom int64
	done    chan error
}

// Start starts a dev server and returns when it is usable, which takes about a
// second. ctx bounds the start only (60 s when it has no earlier deadline); the
// server then runs until [Server.Stop], [Server.Kill] or the end of this process.
// A port in use is told as [ErrPortInUse] before anything is started; every
// other failure quotes the last line of the server's log and leaves no process.
func Start(ctx context.Context, options Options) (*Server, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	options, err := options.withDefaults().claimPorts(ctx)
	if err != nil {
		return nil, err
	}
	s, err := launch(options)
	if err != nil {
		return nil, fmt.Errorf("start the Temporal dev server: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := s.awaitUsable(ctx); err != nil {
		s.child.kill()
		return nil, fmt.Errorf("start the Temporal dev server on %s: %w: %s",
			s.Addr(), err, lastLine(options.LogFile, s.logFrom))
	}
	return s, nil
}

// launch runs the binary and watches over its end.
func launch(options Options) (*Server, error) {
	if err := options.directories(); err != nil {
		return nil, fmt.Errorf("make room for its files: %w", err)
	}
	log, offset, err := openLog(options.LogFile)
	if err != nil {
		return nil, fmt.Errorf("open its log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(options.Path, options.arguments()...)
	cmd.Stdout, cmd.Stderr = log, log
	child, err := startProcess(cmd)
	if err != nil {
		return nil, err
	}
	s := &Server{options: options, child: child, logFrom: offset, done: make(chan error, 1)}
	go s.watch()
	return s, nil
}

// watch reports an exit that nobody asked for. It ends with the child.
func (s *Server) watch() {
	defer close(s.done)
	<-s.child.ended
	if !s.child.alone {
		return
	}
	s.done <- fmt.Errorf("%w: %s: %s", ErrExited, s.child.cmd.ProcessState,
		lastLine(s.options.LogFile, s.logFrom))
}

// Addr is the frontend's host:port, what TEMPORAL_ADDRESS takes.
func (s *Server) Addr() string { return s.options.address() }

// UIURL is the address of the web UI, empty when the server runs without one.
func (s *Server) UIURL() string {
	if s.options.UIPort == 0 {
		return ""
	}
	return "http://" + s.options.uiAddress()
}

// Done yields one error, wrapping [ErrExited], when the server ends by itself,
// and is closed when it has ended for whatever reason. One receiver only: who
// needs the reason elsewhere passes it on.
func (s *Server) Done() <-chan error { return s.done }

// Stop ends the server in good order and returns when it is gone, at the latest
// shortly after [Options.StopTimeout], when it is killed. Stopping again, or
// after the server has ended, does nothing.
func (s *Server) Stop() { s.child.stop(s.options.StopTimeout) }

// Kill ends the server as a crash would (SIGKILL) and returns when it is gone.
// What Temporal had acknowledged survives in [Options.DBFile].
func (s *Server) Kill() { s.child.kill() }

// Restart starts a new server with the same files and the same ports, stopping
// this one first when it still runs. The old Server stays ended.
func (s *Server) Restart(ctx context.Context) (*Server, error) {
	s.Stop()
	return Start(ctx, s.options)
}

// Pid is the server's process id, for tests that stop or freeze it from outside.
func (s *Server) Pid() int { return s.child.cmd.Process.Pid }

// pause waits for d or until ctx ends, and says whether it waited in full.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
