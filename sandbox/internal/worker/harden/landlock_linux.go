package harden

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rights are what a version of Landlock can take away. Nothing is given back, so
// there are no rules, only the set.
type rights struct{ files, network, scopes uint64 }

const (
	// firstFiles are the rights to files of the first version, bits 0 to 12.
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

// versions are the sets of rights, the most first. A kernel refuses a set with a
// bit that it doesn't know.
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

// signalErratum is the mend that lets the threads of one process signal each
// other: without it the scope would cut Go's runtime off from its own threads,
// as each has a domain of its own.
const signalErratum = 1 << 1

// closeFiles takes from every thread what Landlock can take.
func closeFiles() error {
	set, err := ruleset()
	if err != nil {
		return missing(err)
	}
	defer unix.Close(set)
	return missing(restrict(set))
}

// missing makes the refusals of kernels and containers that have no Landlock a
// gap instead of a failure: the filter of system calls stands without it.
func missing(err error) error {
	for _, e := range []error{unix.ENOSYS, unix.EOPNOTSUPP, unix.EPERM} {
		if errors.Is(err, e) {
			return gap{err}
		}
	}
	return err
}

// ruleset makes the set that takes away the most.
func ruleset() (int, error) {
	mended := signalsMended()
	var errno unix.Errno
	for _, v := range versions {
		if !mended {
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

// signalsMended asks the kernel for what has been mended in it.
func signalsMended() bool {
	errata, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_ERRATA)
	return errno == 0 && errata&signalErratum != 0
}

// create makes a set. Attributes that the kernel doesn't know yet may be passed
// if they are zero; the last ones aren't needed.
func (r rights) create() (int, unix.Errno) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: r.files, Handled_access_net: r.network, Scoped: r.scopes}
	size := unsafe.Offsetof(attr.Quiet_access_fs)
	set, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	return int(set), errno
}

// restrict enters the set with all threads. Where Go's runtime can't reach them,
// as C may have started some, the kernel has to; a wall around some of them would
// be none, for they share their memory.
func restrict(set int) error {
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(set), 0, 0)
	if errno != syscall.ENOTSUP {
		return named("landlock_restrict_self", errno)
	}
	_, _, errno = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(set), unix.LANDLOCK_RESTRICT_SELF_TSYNC, 0)
	if errno == unix.EINVAL {
		return gap{errors.New("in a build with cgo it needs a kernel that restricts all threads at once, Linux 7.0 or later")}
	}
	return named("landlock_restrict_self", errno)
}

// named says which system call failed, if one did.
func named(call string, errno unix.Errno) error {
	if errno == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w", call, errno)
}
