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

// Descriptors that a worker inherits from its host.
const (
	LinkFD     = 3 // the socket for frames
	LivenessFD = 4 // a pipe without data that breaks when the host dies
	firstLeak  = 5
)

// Harden drops the privileges of this process and then attempts forbidden operations, to test that they fail. It
// returns an error if a step fails. If the kernel does not support a layer, Harden records a gap instead.
func Harden(memory int64) (worker.Isolation, error) {
	configureRuntime(memory)
	i := worker.Isolation{OwnProcess: true}
	if err := inOrder(limits(memory * MemoryFactor)); err != nil {
		return i, err
	}
	// Read and open everything that is needed before locking down.
	parent := os.Getppid()
	all, err := openThreads()
	if err != nil {
		return i, fmt.Errorf("threads: %w", err)
	}
	defer all.close()
	if err := addLayer(&i, "Landlock", enableLandlock); err != nil {
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

// addLayer calls build to add a layer of isolation. If the layer is not available, addLayer records the reason.
func addLayer(i *worker.Isolation, name string, build func() error) error {
	var missing unavailableError
	switch err := build(); {
	case err == nil:
		i.Layers = append(i.Layers, name)
	case errors.As(err, &missing):
		i.Gaps = append(i.Gaps, fmt.Sprintf("%s is not in force (%v)", name, err))
	default:
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// step is one hardening step.
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

// limits returns the steps that every Linux supports.
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

// dieFirst makes the kernel kill this process before others when the machine runs out of memory. It must run
// while the process is dumpable: later, root owns the file that it writes.
func dieFirst() error {
	return os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
}

// limitData limits private memory to what the process has now plus memory. The address
// space cannot be limited, because the runtime reserves much of it.
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

// vmData returns how many bytes of private memory the process has.
func vmData() (uint64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmData:")); ok {
			digits := bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte("kB")))
			kb, err := strconv.ParseUint(string(digits), 10, 64)
			return kb << 10, err
		}
	}
	return 0, errors.New("/proc/self/status has no VmData")
}

// closeLeaked closes the descriptors that other code in the host leaked to this process and the descriptors that other
// packages' inits opened.
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
			continue // the directory itself, which is closed already, or a descriptor of the runtime
		}
		if err := unix.Close(fd); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	return nil
}

// ofRuntime reports whether target is a file that the Go runtime may have opened.
func ofRuntime(target string) bool {
	return target == "anon_inode:[eventpoll]" || target == "anon_inode:[eventfd]" ||
		strings.HasPrefix(target, "/sys/fs/cgroup/")
}

// noNewPrivileges sets a flag of every thread. With cgo, the Go runtime cannot reach all threads. Then
// noNewPrivileges sets the flag of this thread only: threads that this thread starts inherit the flag, and
// installing the system call filter sets the flag of the other threads.
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
