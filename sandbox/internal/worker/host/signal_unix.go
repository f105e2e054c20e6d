//go:build unix

package host

import (
	"os"
	"syscall"
)

// signaled says whether a signal ended the process.
func signaled(s *os.ProcessState) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}

// slain says whether the process was killed outright, by the system or by somebody.
func slain(s *os.ProcessState) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// forbidden says whether the system ended the process for a call that it made.
func forbidden(s *os.ProcessState) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGSYS
}

// dismissed says whether somebody asked the process to end, which no lack of
// memory does.
func dismissed(s *os.ProcessState) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return false
	}
	switch status.Signal() {
	case syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGTRAP, syscall.SIGFPE:
		return true
	}
	return false
}
