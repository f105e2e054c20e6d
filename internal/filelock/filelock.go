// Package filelock locks files against other processes.
package filelock

import (
	"errors"
	"os"
)

// ErrInUse is returned for a file that this or another process has locked.
var ErrInUse = errors.New("another process is using it")

// TryLock locks a file exclusively until [Close] is called or the process ends. It returns false if the file is already
// locked. On systems without such locks, the error is [errors.ErrUnsupported].
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

// Close unlocks a file and closes it. Closing alone would not always release the lock: a process that another
// goroutine is starting may hold a copy of the descriptor for a moment.
func Close(file *os.File) error {
	_ = unlock(file) // the file may not be locked
	return file.Close()
}
