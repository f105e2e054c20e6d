package worker

import "golang.org/x/sys/unix"

// descriptors counts what a worker has open. It can't ask for more about them
// than whether reading or writing nothing makes sense.
func descriptors() int {
	open := 0
	for fd := range 100 {
		_, r := unix.Pread(fd, nil, 0)
		_, w := unix.Write(fd, nil)
		if r != unix.EBADF || w != unix.EBADF {
			open++
		}
	}
	return open
}

func closeLink() { unix.Close(linkFD) }

// actHere does what only makes sense on Linux.
func actHere(name string) string {
	switch name {
	case "break-out":
		return breakOutEverywhere()
	case "labour":
		return labour()
	}
	return "unknown " + name
}
