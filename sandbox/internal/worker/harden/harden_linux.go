package harden

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

	"github.com/writ-go/writ/sandbox/internal/worker"
)

// Descriptors that the host hands over.
const (
	LinkFD     = 3 // a socket: the frames
	LivenessFD = 4 // a pipe that carries nothing and breaks when the host is gone
	firstLeak  = 5
)

// Harden drops every right that a worker does not need and then tests the result by
// attempting what must be prevented. It fails if a step fails; a layer that the kernel
// does not offer is recorded as a gap instead.
func Harden(memory int64) (worker.Isolation, error) {
	configureRuntime(memory)
	i := worker.Isolation{OwnProcess: true}
	if err := inOrder(limits(memory * MemoryFactor)); err != nil {
		return i, err
	}
	// What is needed when it can't be had any more.
	parent := os.Getppid()
	all, err := openThreads()
	if err != nil {
		return i, fmt.Errorf("threads: %w", err)
	}
	defer all.close()
	if err := addLayer(&i, "Landlock", closeFiles); err != nil {
		return i, err
	}
	if err := limit(unix.RLIMIT_NOFILE, 0); err != nil {
		return i, fmt.Errorf("open files: %w", err)
	}
	filtered := func() error {
		if err := filterCalls(); err != nil {
			return err
		}
		return all.check("NoNewPrivs:\t1", "Seccomp:\t2")
	}
	if err := addLayer(&i, "seccomp", filtered); err != nil {
		return i, err
	}
	Probe(&i, parent, memory*MemoryFactor)
	return i, nil
}

// addLayer builds a layer of isolation, or records why it is not available.
func addLayer(i *worker.Isolation, name string, build func() error) error {
	var none gap
	switch err := build(); {
	case err == nil:
		i.Layers = append(i.Layers, name)
	case errors.As(err, &none):
		i.Gaps = append(i.Gaps, fmt.Sprintf("%s is not in force (%v)", name, err))
	default:
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// step is a part of the hardening.
type step struct {
	name string
	do   func() error
}

func inOrder(steps []step) error {
	for _, s := range steps {
		if err := s.do(); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// limits are what every Linux can do.
func limits(memory int64) []step {
	return []step{
		{"memory limit", func() error { return limitData(memory) }},
		{"out-of-memory score", dieFirst},
		{"descriptors", closeLeaked},
		{"core dumps", func() error { return limit(unix.RLIMIT_CORE, 0) }},
		{"files", func() error { return limit(unix.RLIMIT_FSIZE, 0) }},
		{"locked memory", func() error { return limit(unix.RLIMIT_MEMLOCK, 0) }},
		{"dumpable", func() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }},
		{"no new privileges", noNewPrivileges},
	}
}

// dieFirst has the kernel, when the machine lacks memory, end this process before
// others. It is done before the process stops being dumpable, as the file is
// root's from then on.
func dieFirst() error {
	return os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
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
// runtime can't: there it holds for this thread and those that it starts, and the
// filter of system calls takes it to the others.
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
