//go:build unix

package stdio

import (
	"os/exec"
	"syscall"
)

// inherited names the host variables that every server gets.
var inherited = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"}

// setGroup makes the command the leader of its own process group, which also keeps
// Ctrl-C in the host's terminal from reaching it.
func setGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// terminateGroup asks the process and everything that it started to exit.
func terminateGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGTERM) }

// killGroup kills the process and everything that it started.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
