package workspace

import (
	"os"

	"golang.org/x/sys/windows"
)

// lockNow locks a file exclusively until it is closed. It reports false if the file is
// locked.
func lockNow(file *os.File) (ok bool, err error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if err == windows.ERROR_LOCK_VIOLATION || err == windows.ERROR_IO_PENDING {
		return false, nil
	}
	return err == nil, err
}
