//go:build amd64 || arm64

package harden

import "golang.org/x/sys/unix"

// callRules are the system calls that a worker makes: Go's runtime, the race
// detector's, and C libraries' starting threads, none of which ask for anything
// new outside this process. Those made often come first.
func callRules(pid int) []rule {
	rules := []rule{
		{number: unix.SYS_FUTEX},
		{number: unix.SYS_WRITE}, // to what is open: the host's socket and its log
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
		{number: unix.SYS_CLOCK_GETTIME},   // where the clock can't be read without
		{number: unix.SYS_GETTIMEOFDAY},
		{number: unix.SYS_GETRANDOM},
		{number: unix.SYS_GETPID},
		{number: unix.SYS_GETTID},
		{number: unix.SYS_PREAD64}, // the limits of a cgroup that Go has opened
		{number: unix.SYS_SCHED_GETAFFINITY},
		{number: unix.SYS_EPOLL_CTL},
		{number: unix.SYS_PPOLL},
		{number: unix.SYS_CLOSE},
		{number: unix.SYS_EXIT},
		{number: unix.SYS_EXIT_GROUP},
		{number: unix.SYS_SET_ROBUST_LIST}, // a C library's new thread
		{number: unix.SYS_RSEQ},            // another; it gives up if refused
		// An allocator of C takes a refusal for an address. It is data, and counts.
		{number: unix.SYS_BRK},

		{unix.SYS_MMAP, []arg{{index: 2, may: readWrite}, {
			// A mapping that grows like a stack would escape the limit of memory.
			index: 3, must: unix.MAP_ANONYMOUS,
			may: unix.MAP_PRIVATE | unix.MAP_FIXED | unix.MAP_FIXED_NOREPLACE |
				unix.MAP_NORESERVE | unix.MAP_STACK | unix.MAP_DROPPABLE,
		}}},
		{unix.SYS_MPROTECT, []arg{{index: 2, may: readWrite}}},
		// As root, others would take a page from the whole machine.
		{unix.SYS_MADVISE, []arg{{index: 2, values: []uint32{
			unix.MADV_DONTNEED, unix.MADV_FREE, unix.MADV_HUGEPAGE, unix.MADV_NOHUGEPAGE,
			unix.MADV_COLLAPSE, unix.MADV_DONTDUMP, unix.MADV_GUARD_INSTALL, unix.MADV_GUARD_REMOVE,
		}}}},
		// Threads, in no namespaces of their own.
		{unix.SYS_CLONE, []arg{{
			index: 0,
			must:  unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD,
			may: unix.CLONE_SYSVSEM | unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID |
				unix.CLONE_CHILD_CLEARTID | unix.CLONE_DETACHED,
		}}},
		// One thread interrupts another.
		{unix.SYS_TGKILL, []arg{{index: 0, values: []uint32{uint32(pid)}}}},
	}
	return append(rules, archRules...)
}

// callAnswers are refusals that somebody understands.
var callAnswers = map[uint32]unix.Errno{
	unix.SYS_CLONE3: unix.ENOSYS, // its flags are out of sight; C libraries use clone then
	unix.SYS_PRCTL:  unix.EINVAL, // Go's runtime stops naming its mappings then
}
