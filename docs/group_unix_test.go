//go:build unix

package docs_test

import (
	"os/exec"
	"syscall"
	"time"
)

// together has everything that a shell started ended with it.
func together(shell *exec.Cmd) {
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	shell.Cancel = func() error { return syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) }
	shell.WaitDelay = time.Minute
}
