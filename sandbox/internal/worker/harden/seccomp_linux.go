package harden

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rule allows a system call if its arguments match.
type rule struct {
	number uint32
	args   []arg
}

// arg restricts an argument. Its upper half must be zero.
type arg struct {
	index  uint32
	values []uint32 // the allowed values; if empty, must and may decide
	must   uint32   // the bits that must be set
	may    uint32   // further bits that may be set
}

const (
	refused = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	allowed = unix.SECCOMP_RET_ALLOW

	offNumber, offArch, offArgs = 0, 4, 16 // offsets in struct seccomp_data
	lower, upper                = 0, 4     // half of an argument: both architectures are little-endian

	load = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	and  = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	ifEq = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	ifIn = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	ret  = unix.BPF_RET | unix.BPF_K

	readWrite = unix.PROT_READ | unix.PROT_WRITE // memory protection
)

// filter returns the program that the kernel runs for every system call. A call that is not listed fails but does not
// kill the process, because a later version of Go may make a call that it does not depend on. System calls of a
// different architecture are rejected first. Calls of the x32 ABI are not listed, so they fail, too.
//
// Since Linux 5.11, the kernel does not run the program for calls that are allowed with any arguments. For
// older kernels, frequent calls come first.
func filter(rules []rule, answers map[uint32]unix.Errno) []unix.SockFilter {
	code := []unix.SockFilter{
		{Code: load, K: offArch},
		{Code: ifEq, K: auditArch, Jt: 1},
		{Code: ret, K: refused},
		{Code: load, K: offNumber},
	}
	for _, r := range rules {
		code = append(code, only(r.number, r.code())...)
	}
	for number, errno := range answers {
		code = append(code, only(number, []unix.SockFilter{{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(errno)}})...)
	}
	return append(code, unix.SockFilter{Code: ret, K: refused})
}

// only returns instructions that run the code only for the call with the given number.
func only(number uint32, code []unix.SockFilter) []unix.SockFilter {
	return append([]unix.SockFilter{{Code: ifEq, K: number, Jf: uint8(len(code))}}, code...)
}

// code returns instructions that reject or allow the call.
func (r rule) code() []unix.SockFilter {
	var code []unix.SockFilter
	for _, a := range r.args {
		code = append(code, a.code()...)
	}
	return append(code, unix.SockFilter{Code: ret, K: allowed})
}

// code returns instructions that reject the call if the argument does not match, and otherwise continue after
// the last instruction.
func (a arg) code() []unix.SockFilter {
	at := offArgs + 8*a.index
	code := []unix.SockFilter{
		{Code: load, K: at + upper},
		{Code: ifEq, K: 0, Jt: 1},
		{Code: ret, K: refused},
		{Code: load, K: at + lower},
	}
	if len(a.values) == 0 {
		return append(code,
			unix.SockFilter{Code: ifIn, K: ^(a.must | a.may), Jt: 2},
			unix.SockFilter{Code: and, K: a.must},
			unix.SockFilter{Code: ifEq, K: a.must, Jt: 1},
			unix.SockFilter{Code: ret, K: refused})
	}
	for i, v := range a.values {
		code = append(code, unix.SockFilter{Code: ifEq, K: v, Jt: uint8(len(a.values) - i)})
	}
	return append(code, unix.SockFilter{Code: ret, K: refused})
}

// filterCalls applies the filter to every thread.
func filterCalls() error {
	if auditArch == 0 {
		return unavailableError{errors.New("no list of system calls exists for this architecture")}
	}
	const everyThread = unix.SECCOMP_FILTER_FLAG_TSYNC
	// A kernel that has seccomp tries to read the program, and fails because the pointer is nil.
	switch _, errno := seccomp(everyThread, nil); errno {
	case unix.EFAULT:
	case unix.ENOSYS, unix.EINVAL:
		return unavailableError{named("seccomp", errno)}
	default:
		return named("seccomp", errno)
	}
	code := filter(callRules(os.Getpid()), callAnswers)
	thread, errno := seccomp(everyThread, &unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]})
	if errno == 0 && thread != 0 {
		return fmt.Errorf("thread %d has a different filter", thread)
	}
	return named("seccomp", errno)
}

func seccomp(flags uintptr, program *unix.SockFprog) (uintptr, unix.Errno) {
	r, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(program)))
	return r, errno
}
