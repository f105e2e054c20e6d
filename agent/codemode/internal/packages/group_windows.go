//go:build windows

package packages

import (
	"os/exec"
	"strconv"
	"syscall"
)

// essential are the variables that npm always inherits. Node.js does not start without
// the first ones. The certificates that the host trusts are not secret.
var essential = []string{"PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "NODE_EXTRA_CA_CERTS"}

// setGroup protects the command from a Ctrl-C at the host's console.
func setGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// killGroup kills the process and the processes that it started.
func killGroup(pid int) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(pid)).Run()
}
