package harden

import (
	"errors"
	"fmt"
	"math"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/writ-go/writ/sandbox/internal/worker"
)

// attempt is an action that a worker must not be able to perform. If an attempt succeeds, it leaves nothing
// behind.
type attempt struct {
	name     string
	property *bool
	try      func() error
}

// Probe attempts every operation that a worker must not be able to perform, and records which ones failed. It needs the
// process ID of the parent, because the system call filter does not let a worker ask for it.
func Probe(i *worker.Isolation, parent int, memory int64) {
	attempts := []attempt{
		{"exceeding the memory limit", &i.MemoryCap, func() error { return exceed(memory) }},
		{"opening a directory", &i.NoFiles, func() error { return open("/", unix.O_RDONLY|unix.O_DIRECTORY) }},
		{"opening a file to write", &i.NoFiles, func() error { return open("/dev/null", unix.O_WRONLY) }},
		{"making a file", &i.NoFiles, func() error { return open("/tmp", unix.O_RDWR|unix.O_TMPFILE) }},
		{"making a unix socket", &i.NoNetwork, func() error { return makeSocket(unix.AF_UNIX) }},
		{"making an internet socket", &i.NoNetwork, func() error { return makeSocket(unix.AF_INET) }},
		{"starting a process", &i.NoProcesses, fork},
		{"starting a program", &i.NoProcesses, execute},
		{"signalling the parent", &i.NoSignals, func() error { return unix.Kill(parent, 0) }},
		{"tracing the parent", &i.NoTracing, func() error { return trace(parent) }},
		{"reading the parent's memory", &i.NoTracing, func() error { return peek(parent) }},
		{"mapping shared memory", &i.NoSharedMemory, func() error { return mapped(unix.PROT_READ, unix.MAP_SHARED) }},
		{"mapping executable memory", &i.NoExecutableMemory, func() error {
			return mapped(unix.PROT_READ|unix.PROT_EXEC,
				unix.MAP_PRIVATE)
		}},
		{"making memory executable", &i.NoExecutableMemory, makeExecutable},
	}
	for _, a := range attempts {
		*a.property = true
	}
	if limit(unix.RLIMIT_NOFILE, 64) == nil { // attempt without this limit if the process can raise it
		defer func() { _ = limit(unix.RLIMIT_NOFILE, 0) }()
	}
	for _, a := range attempts {
		if err := a.try(); !prevented(err) {
			*a.property = false
			i.Gaps = append(i.Gaps, fmt.Sprintf("%s is not prevented (%s)", a.name, outcome(err)))
		}
	}
}

// prevented reports whether an attempt failed because it is forbidden. Any other failure
// proves nothing.
func prevented(err error) bool {
	switch err {
	case unix.EPERM, unix.EACCES, unix.ENOSYS, // not permitted, or no such call
		unix.EMFILE, // no descriptor can be opened
		errCapped:   // not enough memory because of the limit
		return true
	}
	return false
}

func outcome(err error) string {
	if err == nil {
		return "it succeeded"
	}
	return err.Error()
}

// errCapped is the error that exceed returns if the memory limit holds.
var errCapped = errors.New("the memory limit holds")

// exceed allocates more memory than the limit allows, without using it.
func exceed(memory int64) error {
	size := min(memory+1<<30, math.MaxInt)
	all, err := unix.Mmap(-1, 0, int(size), readWrite, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err == nil {
		_ = unix.Munmap(all)
	}
	if err == unix.ENOMEM {
		return errCapped
	}
	return err
}

func open(path string, flags int) error {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o600)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func makeSocket(family int) error {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// fork calls clone with zero arguments, so that their order, which depends on the
// architecture, does not matter. A child ends at once, without a signal.
//
//go:nosplit
//go:norace
func fork() error {
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, 0, 0, 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	if pid == 0 {
		for {
			_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
	_, _, _ = unix.RawSyscall6(unix.SYS_WAIT4, pid, 0, unix.WALL, 0, 0, 0)
	return nil
}

// execute executes a program with an empty name, which cannot exist.
func execute() error {
	var name byte
	_, _, errno := unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(&name)), 0, 0)
	return asError(errno)
}

// trace reads a word of a process with ptrace. It always fails, because this process is not
// attached to the other one, but the error shows whether the call is available.
func trace(pid int) error {
	var word uintptr
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_PEEKDATA, uintptr(pid), 0,
		uintptr(unsafe.Pointer(&word)), 0, 0)
	return asError(errno)
}

// peek reads a byte of a process's memory, at an address that may not be mapped.
func peek(pid int) error {
	var b [1]byte
	local := unix.Iovec{Base: &b[0]}
	local.SetLen(1)
	_, err := unix.ProcessVMReadv(pid, []unix.Iovec{local}, []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&b[0])),
		Len: 1}}, 0)
	return err
}

func mapped(protection, flags int) error {
	memory, err := unix.Mmap(-1, 0, os.Getpagesize(), protection, flags|unix.MAP_ANON)
	if err == nil {
		_ = unix.Munmap(memory)
	}
	return err
}

func makeExecutable() error {
	memory, err := unix.Mmap(-1, 0, os.Getpagesize(), readWrite, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil // nothing was prevented
	}
	err = unix.Mprotect(memory, unix.PROT_READ|unix.PROT_EXEC)
	_ = unix.Munmap(memory)
	return err
}

// asError returns nil for errno 0.
func asError(errno unix.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}
