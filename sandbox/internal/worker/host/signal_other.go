//go:build !unix

package host

import "os"

// signaled says whether a signal ended the process: there are none.
func signaled(*os.ProcessState) bool { return false }

// slain says whether the process was killed outright: that is not told.
func slain(*os.ProcessState) bool { return false }

// forbidden says whether the system ended the process for what it called: no
// calls are forbidden.
func forbidden(*os.ProcessState) bool { return false }

// dismissed says whether somebody asked the process to end: nobody can.
func dismissed(*os.ProcessState) bool { return false }
