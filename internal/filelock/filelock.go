// Package filelock locks files against other processes.
package filelock

import (
	"errors"
	"os"
)

// ErrInUse means that a file is locked, by this process or another one.
var ErrInUse = errors.New("another process is using it")

// TryLock locks a file exclusively until [Close] or the end of the process. It reports false if the file is locked. On
// systems without such locks, the error is [errors.ErrUnsupported].
func TryLock(file *os.File) (ok bool, err error) { return tryLock(file) }

// Own locks a file like TryLock, and returns [ErrInUse] if it is locked. Where locks are not supported, the file is
// not locked, and the error is nil.
func Own(file *os.File) error {
	ok, err := tryLock(file)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	if err == nil && !ok {
		return ErrInUse
	}
	return err
}

// Close unlocks a file and closes it. Closing alone is not enough: while another goroutine starts a process, that
// process may hold a copy of the descriptor for a moment.
func Close(file *os.File) error {
	_ = unlock(file) // it may not be locked
	return file.Close()
}
