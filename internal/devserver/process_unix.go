//go:build unix && !linux

package devserver

import "syscall"

// childAttributes gives the child a process group of its own, so that Ctrl-C on
// the terminal reaches us alone. Only Linux can tie its life to ours; elsewhere
// a kill -9 of this process leaves the server running.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
