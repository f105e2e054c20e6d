//go:build unix

package worker

import (
	"os"
	"syscall"
)

// signaled says whether a signal ended the process.
func signaled(s *os.ProcessState) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}

// forbidden says whether the system ended the process for a call that it made.
func forbidden(s *os.ProcessState) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGSYS
}
