package devserver

import "syscall"

// childAttributes gives the child a process group of its own, so that Ctrl-C on
// the terminal reaches us alone, and has the kernel kill it when we die.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
