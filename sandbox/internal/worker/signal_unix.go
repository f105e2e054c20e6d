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
