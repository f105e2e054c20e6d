//go:build !unix

package worker

import "os"

// signaled says whether a signal ended the process: there are none.
func signaled(*os.ProcessState) bool { return false }
