package devserver

import (
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// process is a child that dies with us. Its goroutine starts it, stays on one
// OS thread until it has ended, and reaps it.
//
// The thread matters: Linux sends the parent-death signal when the *thread*
// that forked the child ends, not when the process does. A goroutine without a
// thread of its own could have started the child on one that Go ends later, and
// the server would be killed in the middle of its life for no visible reason.
type process struct {
	cmd   *exec.Cmd
	asked atomic.Bool   // its end is our wish
	ended chan struct{} // closed once it is reaped
	alone bool          // it ended before anyone asked; read only after ended
}

// startProcess starts cmd and returns once it runs or could not be started.
func startProcess(cmd *exec.Cmd) (*process, error) {
	cmd.SysProcAttr = childAttributes()
	p := &process{cmd: cmd, ended: make(chan struct{})}
	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = p.cmd.Wait() // ProcessState tells the same and more
	p.alone = !p.asked.Load()
	close(p.ended)
}

// stop asks the process to end and kills it when it has not within limit. It
// returns once it is gone; a process that has already ended is no error.
func (p *process) stop(limit time.Duration) {
	p.asked.Store(true)
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		limit = 0 // gone already, or a system without this signal
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		p.kill()
	}
}

// kill ends the process without a chance to tidy up and returns once it is gone.
func (p *process) kill() {
	p.asked.Store(true)
	_ = p.cmd.Process.Kill() // fails only when it has ended
	<-p.ended
}
