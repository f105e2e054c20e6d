//go:build !windows && (!unix || solaris || aix)

package workspace

import (
	"errors"
	"os"
)

// lockNow says that there is no lock that dies with its holder.
func lockNow(*os.File) (ok bool, err error) { return false, errors.ErrUnsupported }
