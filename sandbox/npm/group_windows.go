//go:build windows

package npm

import (
	"os/exec"
	"strconv"
	"syscall"
)

// essential names the variables that every npm inherits: without the first no process
// of Node.js starts, and which certificates the host trusts is no secret.
var essential = []string{"PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "NODE_EXTRA_CA_CERTS"}

// setGroup keeps a Ctrl-C at the host's console from the command.
func setGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// killGroup ends the process and what it started.
func killGroup(pid int) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(pid)).Run()
}
