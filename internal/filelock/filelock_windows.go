package filelock

import (
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks a byte far behind the content, which others can still read.
func tryLock(file *os.File) (ok bool, err error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	behind := &windows.Overlapped{OffsetHigh: math.MaxInt32}
	err = windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, behind)
	if err == windows.ERROR_LOCK_VIOLATION || err == windows.ERROR_IO_PENDING {
		return false, nil
	}
	return err == nil, err
}
