//go:build windows

package mcptools

import (
	"os/exec"
	"strconv"
	"syscall"
)

// essential names the variables that every server inherits.
var essential = []string{
	"PATH", "PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "TEMP", "TMP",
	"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "HOMEDRIVE", "HOMEPATH",
	"USERNAME", "USERPROFILE", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
}

// setGroup keeps a Ctrl-C at the host's console from the command.
func setGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// terminateGroup does nothing: Windows has no way to ask a process without a
// window to end, beyond closing its stdin.
func terminateGroup(int) {}

// killGroup ends the process and what it started.
func killGroup(pid int) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(pid)).Run()
}
