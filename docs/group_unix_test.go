//go:build unix

package docs_test

import (
	"os/exec"
	"syscall"
	"time"
)

// together makes cancellation end everything that the shell started.
func together(shell *exec.Cmd) {
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	shell.Cancel = func() error { return syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) }
	shell.WaitDelay = time.Minute
}
