package harden

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestFilter interprets the filter as the kernel does.
func TestFilter(t *testing.T) {
	t.Parallel()
	const pid = 77
	code := filter(callRules(pid), callAnswers)
	if len(code) > unix.BPF_MAXINSNS {
		t.Fatalf("the filter has %d instructions, which is too many", len(code))
	}
	thread := [6]uint64{unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_SYSVSEM |
		unix.CLONE_THREAD}
	private := uint64(unix.MAP_PRIVATE | unix.MAP_ANONYMOUS)
	const eperm, enosys, einval = refused, unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS),
		unix.SECCOMP_RET_ERRNO | uint32(unix.EINVAL)
	for _, tt := range []struct {
		name   string
		number uint32
		arch   uint32
		args   [6]uint64
		want   uint32
	}{
		{"read", unix.SYS_READ, auditArch, [6]uint64{}, allowed},
		{"futex", unix.SYS_FUTEX, auditArch, [6]uint64{1 << 40, 0, 1 << 63}, allowed},
		{"another architecture", unix.SYS_READ, unix.AUDIT_ARCH_I386, [6]uint64{}, eperm},
		{"x32", 0x40000000 | unix.SYS_READ, auditArch, [6]uint64{}, eperm},
		{"no number", 1<<32 - 1, auditArch, [6]uint64{}, eperm},
		{"openat", unix.SYS_OPENAT, auditArch, [6]uint64{}, eperm},
		{"a thread", unix.SYS_CLONE, auditArch, thread, allowed},
		{"a process", unix.SYS_CLONE, auditArch, [6]uint64{uint64(unix.SIGCHLD)}, eperm},
		{"a thread without files", unix.SYS_CLONE, auditArch, [6]uint64{thread[0] &^ unix.CLONE_FILES}, eperm},
		{"a thread with high bits", unix.SYS_CLONE, auditArch, [6]uint64{thread[0] | 1<<40}, eperm},
		{"a thread in a namespace", unix.SYS_CLONE, auditArch, [6]uint64{thread[0] | unix.CLONE_NEWUSER}, eperm},
		{"clone3", unix.SYS_CLONE3, auditArch, [6]uint64{}, enosys},
		{"prctl", unix.SYS_PRCTL, auditArch, [6]uint64{}, einval},
		{"our thread", unix.SYS_TGKILL, auditArch, [6]uint64{pid, 99, 23}, allowed},
		{"another's", unix.SYS_TGKILL, auditArch, [6]uint64{pid + 1, 99, 23}, eperm},
		{"another's by high bits", unix.SYS_TGKILL, auditArch, [6]uint64{pid | 1<<32, 99, 23}, eperm},
		{"memory", unix.SYS_MMAP, auditArch, [6]uint64{1 << 47, 1 << 40, readWrite, private, 1<<64 - 1, 0}, allowed},
		{"reserved", unix.SYS_MMAP, auditArch, [6]uint64{0, 1 << 40, unix.PROT_NONE, private | unix.MAP_NORESERVE}, allowed},
		{"droppable", unix.SYS_MMAP, auditArch, [6]uint64{0, 4096, readWrite, unix.MAP_DROPPABLE | unix.MAP_ANONYMOUS},
			allowed},
		{"executable", unix.SYS_MMAP, auditArch, [6]uint64{0, 4096, unix.PROT_READ | unix.PROT_EXEC, private}, eperm},
		{"shared", unix.SYS_MMAP, auditArch, [6]uint64{0, 4096, readWrite, unix.MAP_SHARED | unix.MAP_ANONYMOUS}, eperm},
		{"a file", unix.SYS_MMAP, auditArch, [6]uint64{0, 4096, readWrite, unix.MAP_PRIVATE}, eperm},
		{"shared by high bits", unix.SYS_MMAP, auditArch, [6]uint64{0, 4096, readWrite, private | 1<<32}, eperm},
		{"protect", unix.SYS_MPROTECT, auditArch, [6]uint64{0, 4096, unix.PROT_NONE}, allowed},
		{"make executable", unix.SYS_MPROTECT, auditArch, [6]uint64{0, 4096, unix.PROT_EXEC}, eperm},
		{"give back", unix.SYS_MADVISE, auditArch, [6]uint64{0, 4096, unix.MADV_DONTNEED}, allowed},
		{"the last advice", unix.SYS_MADVISE, auditArch, [6]uint64{0, 4096, unix.MADV_GUARD_REMOVE}, allowed},
		{"poison", unix.SYS_MADVISE, auditArch, [6]uint64{0, 4096, unix.MADV_HWPOISON}, eperm},
	} {
		if got := simulate(t, code, tt.number, tt.arch, tt.args); got != tt.want {
			t.Errorf("%s: %#x, want %#x", tt.name, got, tt.want)
		}
	}
}

// simulate runs a filter on one system call.
func simulate(t *testing.T, code []unix.SockFilter, number, arch uint32, args [6]uint64) uint32 {
	t.Helper()
	data := map[uint32]uint32{offNumber: number, offArch: arch}
	for i, a := range args {
		at := offArgs + 8*uint32(i)
		data[at+lower], data[at+upper] = uint32(a), uint32(a>>32)
	}
	var acc uint32
	for pc := 0; pc < len(code); pc++ {
		in := code[pc]
		holds := false
		switch in.Code {
		case load:
			word, ok := data[in.K]
			if !ok {
				t.Fatalf("nothing is at offset %d", in.K)
			}
			acc = word
			continue
		case and:
			acc &= in.K
			continue
		case ret:
			return in.K
		case ifEq:
			holds = acc == in.K
		case ifIn:
			holds = acc&in.K != 0
		default:
			t.Fatalf("unknown instruction %+v", in)
		}
		if holds {
			pc += int(in.Jt)
		} else {
			pc += int(in.Jf)
		}
	}
	t.Fatal("the filter ended without a verdict")
	return 0
}
