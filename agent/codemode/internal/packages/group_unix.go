//go:build unix

package packages

import (
	"os/exec"
	"syscall"
)

// essential are the variables that npm always inherits. The certificates that the host
// trusts are not secret, and some proxies need them.
var essential = []string{"NODE_EXTRA_CA_CERTS"}

// setGroup runs the command in a new process group, which also protects it from a
// Ctrl-C at the host's terminal.
func setGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// killGroup kills the process and the processes that it started.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
