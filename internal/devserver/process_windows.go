package devserver

import "syscall"

// childAttributes gives the child a process group of its own, so that Ctrl-C on
// the console reaches us alone.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
