package worker

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Descriptors that the host hands over.
const (
	linkFD     = 3 // a socket: the frames
	livenessFD = 4 // a pipe that carries nothing and breaks when the host is gone
	firstLeak  = 5
)

// harden gives up what a worker doesn't need. Every step must succeed: a wall
// that can't be built is a reason not to begin.
func harden(memory int64) error {
	settle(memory)
	steps := []struct {
		name string
		do   func() error
	}{
		{"memory limit", func() error { return limitData(memory * memoryFactor) }},
		{"descriptors", closeLeaked},
		{"core dumps", func() error { return limit(unix.RLIMIT_CORE, 0) }},
		{"files", func() error { return limit(unix.RLIMIT_FSIZE, 0) }},
		{"dumpable", func() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }},
		{"no new privileges", noNewPrivileges},
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// limitData bounds the private memory to what the process has now and memory
// more. The address space can't be bounded, as the runtime reserves much of it.
func limitData(memory int64) error {
	now, err := vmData()
	if err != nil {
		return err
	}
	return limit(unix.RLIMIT_DATA, now+uint64(memory))
}

// limit sets both the soft and the hard limit.
func limit(resource int, n uint64) error {
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: n, Max: n})
}

// vmData reads how much private memory the process has, in bytes.
func vmData() (uint64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmData:")); ok {
			kb, err := strconv.ParseUint(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte("kB")))), 10, 64)
			return kb << 10, err
		}
	}
	return 0, errors.New("/proc/self/status has no VmData")
}

// closeLeaked closes what the host's other code left open across the start, and
// what package inits before ours have opened.
func closeLeaked() error {
	const dir = "/proc/self/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd < firstLeak {
			continue
		}
		target, err := os.Readlink(filepath.Join(dir, e.Name()))
		if err != nil || ofRuntime(target) {
			continue // it was the directory's own, or is the runtime's
		}
		if err := unix.Close(fd); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	return nil
}

// ofRuntime says whether the Go runtime may have opened the file for itself.
func ofRuntime(target string) bool {
	return target == "anon_inode:[eventpoll]" || target == "anon_inode:[eventfd]" ||
		strings.HasPrefix(target, "/sys/fs/cgroup/")
}

// noNewPrivileges holds for threads, and has to reach them all. With cgo the
// runtime can't: there it holds for this thread and those that it starts.
func noNewPrivileges() error {
	_, _, errno := syscall.AllThreadsSyscall6(syscall.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0)
	if errno == syscall.ENOTSUP {
		return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	}
	if errno != 0 {
		return errno
	}
	return nil
}
