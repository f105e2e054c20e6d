//go:build unix && !solaris && !aix

package filelock

import (
	"os"

	"golang.org/x/sys/unix"
)

func tryLock(file *os.File) (ok bool, err error) {
	for {
		switch err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err {
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return false, nil
		default:
			return err == nil, err
		}
	}
}

func unlock(file *os.File) error { return unix.Flock(int(file.Fd()), unix.LOCK_UN) }
