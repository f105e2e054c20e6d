//go:build windows

// Package procgroup runs commands in their own process groups, so that a command can be killed together with all
// processes that it has started.
package procgroup

import (
	"os/exec"
	"strconv"
	"syscall"
)

// Set keeps a Ctrl-C in the host's console from reaching a command. Call Set before the command starts.
func Set(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// Terminate does nothing: Windows cannot ask a process without a window to exit, except by closing its
// stdin.
func Terminate(int) {}

// Kill kills the process and everything that it started.
func Kill(pid int) { _ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(pid)).Run() }
