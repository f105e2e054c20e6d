package harden

import (
	"bytes"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// threads are the open status files of the threads of this process. They can still be read when the process can
// no longer open files.
type threads []int

// openThreads opens the status files.
func openThreads() (threads, error) {
	const dir = "/proc/self/task/"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	t := make(threads, 0, len(entries))
	for _, e := range entries {
		fd, err := unix.Open(dir+e.Name()+"/status", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == unix.ENOENT {
			continue // the thread has ended
		}
		if err != nil {
			t.close()
			return nil, fmt.Errorf("thread %s: %w", e.Name(), err)
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

// check returns an error if a living thread's status lacks one of the lines.
func (t threads) check(lines ...string) error {
	status := make([]byte, 4<<10)
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
				return fmt.Errorf("a thread (%s) is not restricted: %q is missing from its status", name, line)
			}
		}
	}
	return nil
}
