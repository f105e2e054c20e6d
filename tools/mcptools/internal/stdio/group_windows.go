//go:build windows

package stdio

import (
	"os/exec"
	"strconv"
	"syscall"
)

// inherited names the host variables that every server gets.
var inherited = []string{
	"PATH", "PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "TEMP", "TMP",
	"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "HOMEDRIVE", "HOMEPATH",
	"USERNAME", "USERPROFILE", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
}

// setGroup keeps Ctrl-C in the host's console from reaching the command.
func setGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// terminateGroup does nothing: Windows cannot ask a process without a window to
// exit, except by closing its stdin.
func terminateGroup(int) {}

// killGroup kills the process and everything that it started.
func killGroup(pid int) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(pid)).Run()
}
