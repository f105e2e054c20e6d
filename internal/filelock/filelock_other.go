//go:build !windows && (!unix || solaris || aix)

package filelock

import (
	"errors"
	"os"
)

func tryLock(*os.File) (ok bool, err error) { return false, errors.ErrUnsupported }

func unlock(*os.File) error { return nil }
