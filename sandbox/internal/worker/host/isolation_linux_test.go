package host

import (
	"context"
	"encoding/json"
	_ "net" // links runtime/cgo, as most programs do
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/writ-go/writ/sandbox/internal/engine/enginetest"
	"github.com/writ-go/writ/sandbox/internal/worker"
	"github.com/writ-go/writ/sandbox/internal/worker/harden"
)

// full is the isolation of every worker on Linux, on architectures with a list of system calls.
var full = worker.Isolation{
	OwnProcess: true, MemoryCap: true, NoFiles: true, NoNetwork: true, NoProcesses: true,
	NoSignals: true, NoTracing: true, NoSharedMemory: true, NoExecutableMemory: true,
}

const readWrite = unix.PROT_READ | unix.PROT_WRITE

// escapes are system calls that could be used to escape. With these arguments, most would fail
// anyway, but not with EPERM.
var escapes = []struct {
	name   string
	number uintptr
	args   [6]uintptr
}{
	{name: "openat2", number: unix.SYS_OPENAT2},
	{name: "open_by_handle_at", number: unix.SYS_OPEN_BY_HANDLE_AT},
	{name: "readlinkat", number: unix.SYS_READLINKAT},
	{name: "fstat", number: unix.SYS_FSTAT},
	{name: "statx", number: unix.SYS_STATX},
	{name: "getdents64", number: unix.SYS_GETDENTS64},
	{name: "unlinkat", number: unix.SYS_UNLINKAT},
	{name: "chdir", number: unix.SYS_CHDIR},
	{name: "mount", number: unix.SYS_MOUNT},
	{name: "dup", number: unix.SYS_DUP},
	{name: "pipe2", number: unix.SYS_PIPE2},
	{name: "memfd_create", number: unix.SYS_MEMFD_CREATE},
	{name: "memfd_secret", number: unix.SYS_MEMFD_SECRET},
	{name: "shmget", number: unix.SYS_SHMGET, args: [6]uintptr{0, 4096, 0o1600}},
	{name: "msgget", number: unix.SYS_MSGGET},
	{name: "mq_open", number: unix.SYS_MQ_OPEN},
	{name: "socketpair", number: unix.SYS_SOCKETPAIR, args: [6]uintptr{unix.AF_UNIX, unix.SOCK_STREAM}},
	{name: "connect", number: unix.SYS_CONNECT, args: [6]uintptr{harden.LinkFD}},
	{name: "sendmsg", number: unix.SYS_SENDMSG, args: [6]uintptr{harden.LinkFD}},
	{name: "recvfrom", number: unix.SYS_RECVFROM, args: [6]uintptr{harden.LinkFD}},
	{name: "recvmsg", number: unix.SYS_RECVMSG, args: [6]uintptr{harden.LinkFD}},
	{name: "own another's signals", number: unix.SYS_FCNTL, args: [6]uintptr{harden.LivenessFD, unix.F_SETOWN,
		uintptr(parent)}},
	{name: "live without the host", number: unix.SYS_FCNTL, args: [6]uintptr{harden.LivenessFD, unix.F_SETFL, 0}},
	{name: "ioctl", number: unix.SYS_IOCTL, args: [6]uintptr{harden.LivenessFD, unix.TIOCOUTQ}},
	{name: "execveat", number: unix.SYS_EXECVEAT},
	{name: "unshare", number: unix.SYS_UNSHARE},
	{name: "setns", number: unix.SYS_SETNS},
	{name: "clone with a signal", number: unix.SYS_CLONE, args: [6]uintptr{uintptr(unix.SIGCHLD)}},
	{name: "clone with high bits", number: unix.SYS_CLONE,
		args: [6]uintptr{1<<32 | unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD}},
	{name: "clone of the network", number: unix.SYS_CLONE,
		args: [6]uintptr{unix.CLONE_NEWNET | unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND |
			unix.CLONE_THREAD}},
	{name: "tkill", number: unix.SYS_TKILL},
	{name: "tgkill of the parent", number: unix.SYS_TGKILL, args: [6]uintptr{uintptr(parent), uintptr(parent), 0}},
	{name: "rt_sigqueueinfo", number: unix.SYS_RT_SIGQUEUEINFO},
	{name: "pidfd_open", number: unix.SYS_PIDFD_OPEN, args: [6]uintptr{uintptr(parent)}},
	{name: "pidfd_send_signal", number: unix.SYS_PIDFD_SEND_SIGNAL},
	{name: "process_vm_writev", number: unix.SYS_PROCESS_VM_WRITEV, args: [6]uintptr{uintptr(parent)}},
	{name: "kcmp", number: unix.SYS_KCMP},
	{name: "perf_event_open", number: unix.SYS_PERF_EVENT_OPEN},
	{name: "bpf", number: unix.SYS_BPF},
	{name: "io_uring_setup", number: unix.SYS_IO_URING_SETUP},
	{name: "userfaultfd", number: unix.SYS_USERFAULTFD},
	{name: "keyctl", number: unix.SYS_KEYCTL},
	{name: "mremap", number: unix.SYS_MREMAP},
	{name: "map a file", number: unix.SYS_MMAP, args: [6]uintptr{0, 4096, unix.PROT_READ, unix.MAP_PRIVATE,
		harden.LinkFD}},
	{name: "map a growing stack", number: unix.SYS_MMAP, args: [6]uintptr{0, 4096, readWrite,
		unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_GROWSDOWN, ^uintptr(0)}},
	{name: "map with validation", number: unix.SYS_MMAP, args: [6]uintptr{0, 4096, readWrite,
		unix.MAP_SHARED_VALIDATE | unix.MAP_ANONYMOUS, ^uintptr(0)}},
	{name: "map with high bits", number: unix.SYS_MMAP, args: [6]uintptr{0, 4096, 1<<32 | readWrite,
		unix.MAP_PRIVATE | unix.MAP_ANONYMOUS, ^uintptr(0)}},
	{name: "poison a page", number: unix.SYS_MADVISE, args: [6]uintptr{0, 0, unix.MADV_HWPOISON}},
	{name: "raise a limit", number: unix.SYS_PRLIMIT64, args: [6]uintptr{0, unix.RLIMIT_DATA}},
	{name: "replace the filter", number: unix.SYS_SECCOMP},
	{name: "setuid", number: unix.SYS_SETUID},
	{name: "x32", number: 0x40000000 | unix.SYS_GETPID},
}

// understood are refused with an error other than EPERM.
var understood = []struct {
	name   string
	number uintptr
	args   [6]uintptr
	errno  syscall.Errno
}{
	{"clone3", unix.SYS_CLONE3, [6]uintptr{}, unix.ENOSYS},
	{"become dumpable", unix.SYS_PRCTL, [6]uintptr{unix.PR_SET_DUMPABLE, 1}, unix.EINVAL},
}

// parent is read before the filter is installed.
var parent = os.Getppid()

// breakOut tries all escapes and returns those that were not prevented.
func breakOut() []string {
	i := worker.Isolation{OwnProcess: true}
	harden.Probe(&i, parent, 1<<40)
	out := i.Gaps
	for _, e := range escapes {
		a := e.args
		if _, _, errno := unix.RawSyscall6(e.number, a[0], a[1], a[2], a[3], a[4], a[5]); errno != unix.EPERM {
			out = append(out, e.name+": "+errno.Error())
		}
	}
	for _, e := range understood {
		a := e.args
		if _, _, errno := unix.RawSyscall6(e.number, a[0], a[1], a[2], a[3], a[4], a[5]); errno != e.errno {
			out = append(out, e.name+": "+errno.Error())
		}
	}
	return out
}

// breakOutEverywhere tries all escapes from existing and from new threads.
func breakOutEverywhere() string {
	var mu sync.Mutex
	var all []string
	var wg, together sync.WaitGroup
	together.Add(8)
	for range 8 {
		wg.Go(func() {
			runtime.LockOSThread()
			together.Done()
			together.Wait() // so that each has its own thread
			out := breakOut()
			mu.Lock()
			all = append(all, out...)
			mu.Unlock()
		})
	}
	wg.Wait()
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "; ")
}

// labour does everything that Go's runtime must be able to do behind the filter.
func labour() string {
	var wg sync.WaitGroup
	for i := range 500 {
		wg.Go(func() {
			time.Sleep(time.Duration(i%10) * time.Millisecond)
			deep(200)
		})
	}
	for range 10 { // threads that end
		wg.Go(func() {
			runtime.LockOSThread()
			time.Sleep(5 * time.Millisecond)
		})
	}
	stop := make(chan struct{})
	go func() { // and one that must be preempted
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	for range 2 {
		big := make([]byte, 32<<20)
		for i := range len(big) / 4096 {
			big[i*4096] = 1
		}
		debug.FreeOSMemory() // shrink
	}
	deep(100_000) // a stack of many megabytes
	wg.Wait()
	close(stop)
	_ = time.Now().Local().Format(time.RFC1123)
	return "done"
}

func deep(n int) int {
	var room [64]byte
	if n == 0 {
		return 0
	}
	room[n%64] = 1
	return deep(n-1) + int(room[(n+1)%64])
}

// TestBreakOut runs native code in a worker, like a program that has exploited a bug in the engine.
func TestBreakOut(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{MinIsolation: full})
	for range 2 { // the second time in a worker with spare threads
		res, err := p.Run(t.Context(), nil, job("break-out"), &enginetest.Host{})
		if err != nil || string(res.Value) != `""` {
			t.Errorf("not prevented: %s, %+v, %v", res.Value, res.Failure, err)
		}
	}
}

func TestLabour(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{})
	for range sample(1, 3) {
		res, err := p.Run(t.Context(), nil, job("labour"), &enginetest.Host{})
		if err != nil || string(res.Value) != `"done"` {
			t.Errorf("%s, %+v, %v", res.Value, res.Failure, err)
		}
	}
}

// tale reports the isolation of the workers of a process.
type tale struct {
	Isolation worker.Isolation
	Got       string // the result of breakOut, if there is a filter
	New       string // the error of NewPool, if any
	Demanded  string // the error if full isolation is required
	Later     string // the error of a later worker that lacks something that the first one had
}

// playIsolated starts workers behind a filter that refuses some system calls, as a container may.
func playIsolated() {
	var numbers []uint32
	var errno uint32
	refusal := os.Getenv("WRIT_TEST_REFUSE")
	if refusal != "" {
		check(json.Unmarshal([]byte(refusal), &[]any{&errno, &numbers}))
		check(refuse(errno, numbers))
	}
	told := tell()
	check(json.NewEncoder(os.Stdout).Encode(told))
}

// refuse makes system calls fail in this process and the processes that it starts.
func refuse(errno uint32, numbers []uint32) error {
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	code := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}} // the number of the system call
	for _, n := range numbers {
		code = append(code,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: n, Jf: 1},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | errno})
	}
	code = append(code, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	if e != 0 {
		return e
	}
	return nil
}

func tell() tale {
	var told tale
	if p, err := NewPool(Options{Kind: fakes, MinIsolation: full}); err != nil {
		told.Demanded = err.Error()
	} else {
		p.Close()
	}
	p, err := NewPool(Options{Kind: fakes})
	if err != nil {
		told.New = err.Error()
		return told
	}
	defer p.Close()
	told.Isolation = p.Isolation()
	if slices.Contains(told.Isolation.Layers, "seccomp") {
		res, err := p.Run(context.Background(), nil, job("break-out"), &enginetest.Host{})
		check(err)
		check(json.Unmarshal(res.Value, &told.Got))
	}
	// Pretend that the first worker had more isolation than later ones.
	p.opts.MinIsolation = full
	_, err = p.Run(context.Background(), nil, job("die"), &enginetest.Host{})
	check(err)
	for p.busy() > 0 {
		time.Sleep(time.Millisecond)
	}
	if _, err = p.Run(context.Background(), nil, job("echo:x"), &enginetest.Host{}); err != nil {
		told.Later = err.Error()
	}
	return told
}

// hear plays the scene and returns its report.
func hear(t *testing.T, errno syscall.Errno, user *syscall.Credential, numbers ...int) tale {
	t.Helper()
	cmd, log := play(t, "/proc/self/exe", "isolated")
	refusal, err := json.Marshal([]any{uint32(errno), numbers})
	if err != nil {
		t.Fatal(err)
	}
	if len(numbers) > 0 {
		cmd.Env = append(cmd.Env, "WRIT_TEST_REFUSE="+string(refusal))
	}
	if user != nil { // the user may not execute a binary that was built under a strict umask
		if err := os.Chmod("/proc/self/exe", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err, log)
	}
	var told tale
	if err := json.Unmarshal(out, &told); err != nil {
		t.Fatal(err, string(out), log)
	}
	return told
}

// unprivileged returns a user without privileges, or nil if this process has none.
func unprivileged() *syscall.Credential {
	if os.Getuid() != 0 {
		return nil
	}
	return &syscall.Credential{Uid: 65534, Gid: 65534, NoSetGroups: true}
}

// TestUnprivileged starts workers as a user without privileges.
func TestUnprivileged(t *testing.T) {
	t.Parallel()
	told := hear(t, 0, unprivileged())
	if got := walls(told.Isolation); !reflect.DeepEqual(got, full) || told.Got+told.New+told.Demanded+told.Later != "" {
		t.Errorf("%+v", told)
	}
	if got := slices.Contains(told.Isolation.Layers, "Landlock"); got != landlocked() {
		t.Errorf("%+v", told.Isolation)
	}
}

// landlocked reports whether Landlock is available. In a program with cgo, Go's runtime cannot
// reach all threads, so the kernel must be able to restrict all of them at once.
func landlocked() bool {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	_, _, reach := syscall.AllThreadsSyscall(unix.SYS_GETPID, 0, 0, 0)
	return errno == 0 && (reach != syscall.ENOTSUP || version >= 8)
}

// mayRaise reports whether this process may raise a limit, which then does not contain it.
func mayRaise(t *testing.T) bool {
	t.Helper()
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		t.Fatal(err)
	}
	return data[0].Effective&(1<<unix.CAP_SYS_RESOURCE) != 0
}

// walls returns the isolation without its descriptions.
func walls(i worker.Isolation) worker.Isolation {
	i.Layers, i.Gaps = nil, nil
	return i
}

// TestRefusedLandlock checks that the filter of system calls is sufficient.
func TestRefusedLandlock(t *testing.T) {
	t.Parallel()
	for _, errno := range []syscall.Errno{unix.ENOSYS, unix.EOPNOTSUPP, unix.EPERM} {
		for _, number := range []int{unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_RESTRICT_SELF} {
			told := hear(t, errno, nil, number)
			if got := walls(told.Isolation); !reflect.DeepEqual(got, full) || told.Got+told.New+told.Demanded+told.Later != "" {
				t.Errorf("%v: %+v", errno, told)
			}
			if !reflect.DeepEqual(told.Isolation.Layers, []string{"seccomp"}) || len(told.Isolation.Gaps) != 1 {
				t.Errorf("%v: %+v", errno, told.Isolation)
			}
		}
	}
}

// TestNoSeccomp checks that what a kernel lacks is found by probing.
func TestNoSeccomp(t *testing.T) {
	t.Parallel()
	for _, user := range []*syscall.Credential{nil, unprivileged()} {
		told := hear(t, unix.ENOSYS, user, unix.SYS_SECCOMP, unix.SYS_LANDLOCK_CREATE_RULESET)
		// New descriptors cannot be had, but processes and mappings can.
		noFD := user != nil || !mayRaise(t)
		want := worker.Isolation{OwnProcess: true, MemoryCap: true, NoFiles: noFD, NoNetwork: noFD}
		if i := told.Isolation; !reflect.DeepEqual(walls(i), want) || len(i.Layers) != 0 {
			t.Errorf("%+v", i)
		}
		for _, err := range []string{told.Demanded, told.Later} {
			const (
				begin = "start worker: the required isolation is not available; not in force: "
				then  = "no other processes, no signals to others, no tracing, no shared memory, no executable memory: " +
					"Landlock is not in force (landlock_create_ruleset: function not implemented); seccomp is not in force " +
					"(seccomp: function not implemented); "
			)
			if !strings.HasPrefix(err, begin) || !strings.Contains(err, then) || !strings.Contains(err,
				"; starting a process is not prevented (it succeeded); ") {
				t.Error(err)
			}
		}
	}
}

// TestLandlockAlone checks what Landlock prevents without a filter, even for root.
func TestLandlockAlone(t *testing.T) {
	t.Parallel()
	i := hear(t, unix.ENOSYS, nil, unix.SYS_SECCOMP).Isolation
	if got := slices.Contains(i.Layers, "Landlock"); got != landlocked() {
		t.Errorf("%+v", i)
	}
	if landlocked() && !i.NoFiles {
		t.Errorf("%+v", i)
	}
}

// TestRefusedSeccomp checks that no worker starts if the kernel supports filters, but a container
// forbids them.
func TestRefusedSeccomp(t *testing.T) {
	t.Parallel()
	told := hear(t, unix.EPERM, nil, unix.SYS_SECCOMP)
	const want = "start worker: the worker ended with exit status 125; its output: writ worker: cannot harden the process: " +
		"seccomp: seccomp: operation not permitted"
	if told.New != want || told.Demanded != want {
		t.Errorf("%+v", told)
	}
}
