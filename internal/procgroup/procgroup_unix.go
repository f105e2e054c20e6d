//go:build unix

// Package procgroup runs commands in their own process groups, so that a command can be killed together with all
// processes that it has started.
package procgroup

import (
	"os/exec"
	"syscall"
)

// Set makes a command the leader of its own process group, so that a Ctrl-C in the host's terminal does not
// reach the command. Call Set before the command starts.
func Set(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Terminate asks the process and everything that it started to exit.
func Terminate(pid int) { _ = syscall.Kill(-pid, syscall.SIGTERM) }

// Kill kills the process and everything that it started.
func Kill(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
