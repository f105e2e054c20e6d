package worker

import (
	"bytes"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// threads are the open status files of the threads of this process, which are
// read when nothing can be opened any more.
type threads []int

// openThreads opens them.
func openThreads() (threads, error) {
	paths, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil {
		return nil, err
	}
	var t threads
	for _, path := range paths {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == unix.ENOENT {
			continue // it has ended
		}
		if err != nil {
			t.close()
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		t = append(t, fd)
	}
	return t, nil
}

func (t threads) close() {
	for _, fd := range t {
		unix.Close(fd)
	}
}

// check makes sure that every thread that hasn't ended has the lines.
func (t threads) check(lines ...string) error {
	status := make([]byte, 8<<10)
	for _, fd := range t {
		n, err := unix.Pread(fd, status, 0)
		if err == unix.ESRCH {
			continue
		}
		if err != nil {
			return err
		}
		for _, line := range lines {
			if !bytes.Contains(status[:n], []byte("\n"+line+"\n")) {
				name, _, _ := bytes.Cut(status[:n], []byte("\n"))
				return fmt.Errorf("a thread (%s) is not behind it: %q is not in its status", name, line)
			}
		}
	}
	return nil
}
