//go:build amd64 || arm64

package harden

import "golang.org/x/sys/unix"

// callRules returns rules for the system calls that a worker needs: the system calls made by Go's runtime, by the race
// detector, and by C libraries that start threads. No allowed call gives access to anything outside this process.
// Frequent calls come first.
func callRules(pid int) []rule {
	rules := []rule{
		{number: unix.SYS_FUTEX},
		{number: unix.SYS_WRITE}, // writes to open files: the host's socket and standard error
		{number: unix.SYS_READ},
		{number: unix.SYS_EPOLL_PWAIT},
		{number: unix.SYS_NANOSLEEP},
		{number: unix.SYS_CLOCK_NANOSLEEP},
		{number: unix.SYS_SCHED_YIELD},
		{number: unix.SYS_MUNMAP},
		{number: unix.SYS_RT_SIGRETURN},
		{number: unix.SYS_RT_SIGPROCMASK},
		{number: unix.SYS_RT_SIGACTION},
		{number: unix.SYS_SIGALTSTACK},
		{number: unix.SYS_RESTART_SYSCALL}, // after a SIGCONT
		{number: unix.SYS_CLOCK_GETTIME},   // if the clock cannot be read without a system call
		{number: unix.SYS_GETTIMEOFDAY},
		{number: unix.SYS_GETRANDOM},
		{number: unix.SYS_GETPID},
		{number: unix.SYS_GETTID},
		{number: unix.SYS_PREAD64}, // limits of a cgroup, whose file Go has opened
		{number: unix.SYS_SCHED_GETAFFINITY},
		{number: unix.SYS_EPOLL_CTL},
		{number: unix.SYS_PPOLL},
		{number: unix.SYS_CLOSE},
		{number: unix.SYS_EXIT},
		{number: unix.SYS_EXIT_GROUP},
		{number: unix.SYS_SET_ROBUST_LIST}, // a C library's new thread
		{number: unix.SYS_RSEQ},            // likewise; the library continues if the call fails
		// If brk failed, a C allocator would use the error as an address. The memory that brk
		// allocates counts as data, which is limited.
		{number: unix.SYS_BRK},

		{unix.SYS_MMAP, []arg{{index: 2, may: readWrite}, {
			// A mapping that grows like a stack would escape the memory limit.
			index: 3, must: unix.MAP_ANONYMOUS,
			may: unix.MAP_PRIVATE | unix.MAP_FIXED | unix.MAP_FIXED_NOREPLACE |
				unix.MAP_NORESERVE | unix.MAP_STACK | unix.MAP_DROPPABLE,
		}}},
		{unix.SYS_MPROTECT, []arg{{index: 2, may: readWrite}}},
		// With other advice, root could disable memory pages of the machine.
		{unix.SYS_MADVISE, []arg{{index: 2, values: []uint32{
			unix.MADV_DONTNEED, unix.MADV_FREE, unix.MADV_HUGEPAGE, unix.MADV_NOHUGEPAGE,
			unix.MADV_COLLAPSE, unix.MADV_DONTDUMP, unix.MADV_GUARD_INSTALL, unix.MADV_GUARD_REMOVE,
		}}}},
		// New threads, but no new processes or namespaces.
		{unix.SYS_CLONE, []arg{{
			index: 0,
			must:  unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD,
			may: unix.CLONE_SYSVSEM | unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID |
				unix.CLONE_CHILD_CLEARTID | unix.CLONE_DETACHED,
		}}},
		// Signals from one thread of this process to another.
		{unix.SYS_TGKILL, []arg{{index: 0, values: []uint32{uint32(pid)}}}},
	}
	return append(rules, archRules...)
}

// callAnswers are the errors for forbidden calls whose callers expect an error other than EPERM.
var callAnswers = map[uint32]unix.Errno{
	unix.SYS_CLONE3: unix.ENOSYS, // its flags cannot be inspected; C libraries then use clone
	unix.SYS_PRCTL:  unix.EINVAL, // Go's runtime then stops naming its mappings
}
