package filelock

import (
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// region returns the locked region: one byte far beyond the content, so that other processes can read the
// content.
func region() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: math.MaxInt32} }

func tryLock(file *os.File) (ok bool, err error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, region())
	if err == windows.ERROR_LOCK_VIOLATION || err == windows.ERROR_IO_PENDING {
		return false, nil
	}
	return err == nil, err
}

func unlock(file *os.File) error {
	return windows.UnlockFileEx(windows.Handle(file.Fd()), 0, 1, 0, region())
}
