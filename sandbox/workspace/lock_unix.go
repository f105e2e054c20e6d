//go:build unix && !solaris && !aix

package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockNow locks a file exclusively until it is closed. It reports false if the file is
// locked.
func lockNow(file *os.File) (ok bool, err error) {
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
