//go:build unix

package npm

import (
	"os/exec"
	"syscall"
)

// essential names the variables that every npm inherits: which certificates the
// host trusts is no secret, and behind some proxies nothing works without.
var essential = []string{"NODE_EXTRA_CA_CERTS"}

// setGroup makes the command the leader of a process group of its own, which also
// keeps a Ctrl-C at the host's terminal from it.
func setGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// killGroup ends the process and what it started.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
