//go:build unix

package mcptools

import (
	"os/exec"
	"syscall"
)

// essential names the variables that every server inherits.
var essential = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"}

// setGroup makes the command the leader of a process group of its own, which
// also keeps a Ctrl-C at the host's terminal from it.
func setGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// terminateGroup asks the process and what it started to end.
func terminateGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGTERM) }

// killGroup ends the process and what it started.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
