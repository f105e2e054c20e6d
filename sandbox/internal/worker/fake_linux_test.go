package worker

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// descriptors lists what a worker has open that isn't the runtime's.
func descriptors() []string {
	var open []string
	for fd := range 100 {
		target, err := os.Readlink("/proc/self/fd/" + itoa(fd))
		if err != nil {
			var st unix.Stat_t
			if unix.Fstat(fd, &st) == nil {
				open = append(open, itoa(fd)) // not dumpable: only root may read the link
			}
			continue
		}
		if !ofRuntime(target) {
			open = append(open, itoa(fd))
		}
	}
	return slices.Clip(open)
}

func closeLink() { _ = unix.Shutdown(linkFD, unix.SHUT_WR) }
