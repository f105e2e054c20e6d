package harden

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rights are the rights that a Landlock version can restrict. A worker loses all of them, so the rule set has no rules,
// which would be exceptions.
type rights struct{ files, network, scopes uint64 }

const (
	// firstFiles are the file rights of the first version, bits 0 to 12.
	firstFiles = unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1
	refer      = firstFiles | unix.LANDLOCK_ACCESS_FS_REFER
	truncate   = refer | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	devices    = truncate | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	sockets    = devices | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX

	tcp = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	udp = tcp | unix.LANDLOCK_ACCESS_NET_BIND_UDP | unix.LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP

	abstract = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	scopes   = abstract | unix.LANDLOCK_SCOPE_SIGNAL
)

// versions are the sets of rights, largest first. A kernel rejects a set with a bit that
// it does not know.
var versions = []rights{
	{sockets, udp, scopes},
	{sockets, tcp, scopes},
	{devices, tcp, scopes},
	{devices, tcp, 0},
	{truncate, tcp, 0},
	{truncate, 0, 0},
	{refer, 0, 0},
	{firstFiles, 0, 0},
}

// signalErratum is the kernel fix that lets the threads of one process signal each other. Without the fix, the
// scope for signals would keep Go's runtime from signaling its own threads, because each thread has its own
// domain.
const signalErratum = 1 << 1

// enableLandlock restricts every thread as far as Landlock can.
func enableLandlock() error {
	set, err := ruleset()
	if err != nil {
		return unavailable(err)
	}
	defer unix.Close(set)
	return unavailable(restrict(set))
}

// unavailable converts the errors from kernels and containers without Landlock to unavailableError: the system call
// filter is enough without Landlock.
func unavailable(err error) error {
	for _, e := range []error{unix.ENOSYS, unix.EOPNOTSUPP, unix.EPERM} {
		if errors.Is(err, e) {
			return unavailableError{err}
		}
	}
	return err
}

// ruleset creates the largest set that the kernel knows.
func ruleset() (int, error) {
	fixed := signalsFixed()
	var errno unix.Errno
	for _, v := range versions {
		if !fixed {
			v.scopes &^= unix.LANDLOCK_SCOPE_SIGNAL
		}
		var set int
		if set, errno = v.create(); errno == 0 {
			return set, nil
		}
		if errno != unix.EINVAL && errno != unix.E2BIG { // an unknown bit, an unknown attribute
			break
		}
	}
	return 0, fmt.Errorf("landlock_create_ruleset: %w", errno)
}

// signalsFixed reports whether the kernel has the fix of signalErratum.
func signalsFixed() bool {
	errata, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_ERRATA)
	return errno == 0 && errata&signalErratum != 0
}

// create creates a rule set. A kernel that does not know an attribute accepts it if it is zero.
func (r rights) create() (int, unix.Errno) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: r.files, Handled_access_net: r.network, Scoped: r.scopes}
	size := unsafe.Offsetof(attr.Quiet_access_fs)
	set, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	return int(set), errno
}

// restrict applies the set to all threads. If the program uses cgo, Go's runtime cannot reach threads that C
// code started, so the kernel must restrict all threads. Restricting some threads would be useless, because
// threads share their memory.
func restrict(set int) error {
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(set), 0, 0)
	if errno != syscall.ENOTSUP {
		return named("landlock_restrict_self", errno)
	}
	_, _, errno = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(set), unix.LANDLOCK_RESTRICT_SELF_TSYNC, 0)
	if errno == unix.EINVAL {
		return unavailableError{errors.New("in a program with cgo, Landlock needs a kernel that can restrict " +
			"all threads at once: Linux 7.0 or later")}
	}
	return named("landlock_restrict_self", errno)
}

// named adds the name of the system call to its error. It returns nil for errno 0.
func named(call string, errno unix.Errno) error {
	if errno == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w", call, errno)
}
