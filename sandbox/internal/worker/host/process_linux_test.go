package host

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/writ-go/writ/sandbox/internal/engine/enginetest"
	"github.com/writ-go/writ/sandbox/internal/worker"
	"github.com/writ-go/writ/sandbox/internal/worker/child"
	"github.com/writ-go/writ/sandbox/internal/worker/harden"
)

// scene names a role that the test binary plays instead of running tests, in a separate process.
const scene = "WRIT_TEST_SCENE"

func TestMain(m *testing.M) {
	switch os.Getenv(scene) {
	case "":
		os.Exit(m.Run())
	case "parent":
		playParent()
	case "deleted":
		playDeleted()
	case "replaced":
		playReplaced()
	case "leaks":
		playLeaks()
	case "isolated":
		playIsolated()
	case "bombs":
		playBombs()
	case "malice":
		playMalice()
	case "forger":
		playForger()
	}
}

func play(t *testing.T, path, name string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(path)
	cmd.Env = append(os.Environ(), scene+"="+name)
	out := &bytes.Buffer{}
	cmd.Stderr = out
	return cmd, out
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// playParent starts a worker that hangs, prints its process ID, and hangs too.
func playParent() {
	p, err := NewPool(Options{Kind: fakes})
	check(err)
	pid := first(p).cmd.Process.Pid
	fmt.Println(pid)
	j := job("spin")
	j.Limits.Time = 0
	_, err = p.Run(context.Background(), nil, j, &enginetest.Host{})
	check(err)
}

func TestParentDies(t *testing.T) {
	t.Parallel()
	cmd, log := play(t, "/proc/self/exe", "parent")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err, log)
	}
	time.Sleep(50 * time.Millisecond)
	var pid int
	if _, err := fmt.Sscan(line, &pid); err != nil {
		t.Fatal(err, line)
	}
	if !alive(pid) {
		t.Fatalf("no worker %d: %s", pid, log)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for start := time.Now(); alive(pid); time.Sleep(time.Millisecond) {
		if time.Since(start) > time.Minute {
			t.Fatal("the worker is still running")
		}
	}
}

// alive reports whether the process exists and has not exited.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// playDeleted deletes its own executable before it starts workers.
func playDeleted() {
	path, err := os.Executable()
	check(err)
	check(os.Remove(path))
	playOn()
}

// playReplaced replaces its own executable with another program.
func playReplaced() {
	path, err := os.Executable()
	check(err)
	check(os.WriteFile(path+".new", []byte("#!/bin/sh\nexit 3\n"), 0o755))
	check(os.Rename(path+".new", path))
	playOn()
}

// playOn runs programs in several workers, one after the other.
func playOn() {
	p, err := NewPool(Options{Kind: fakes})
	check(err)
	for range 3 {
		res, err := p.Run(context.Background(), nil, job("die"), &enginetest.Host{})
		check(err)
		if res.Failure == nil {
			check(errors.New("the program did not fail"))
		}
		res, err = p.Run(context.Background(), nil, job("echo:still here"), &enginetest.Host{})
		check(err)
		if string(res.Value) != `"still here"` {
			check(fmt.Errorf("%+v", res))
		}
	}
	check(p.Close())
}

func TestExecutableIsGone(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"deleted", "replaced"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "copy")
			copyFile(t, path)
			cmd, log := play(t, path, how)
			if err := cmd.Run(); err != nil {
				t.Error(err, log)
			}
		})
	}
}

// copyFile copies this executable. No process may be started meanwhile: it would briefly inherit
// the open copy, and a file that is open for writing cannot be executed.
func copyFile(t *testing.T, to string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	in, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// playLeaks uses a pool in every way and looks for leaks.
func playLeaks() {
	warm, err := NewPool(Options{Kind: fakes}) // so that the runtime opens what it opens once
	check(err)
	check(warm.Close())
	files, routines := count("/proc/self/fd"), runtime.NumGoroutine()
	p, err := NewPool(Options{Kind: fakes, Max: 4, Memory: 64 << 20})
	check(err)
	var wg sync.WaitGroup
	for i := range 45 {
		source := []string{"echo:x", "die", "hang", "raw-bad-id", "call:3", "noise", "abandon", "grow", "call:20"}[i%9]
		wg.Go(func() {
			j := job(source)
			if source == "hang" {
				j.Limits.Time = time.Millisecond
			}
			h := &enginetest.Host{}
			_, err := p.Run(context.Background(), nil, j, h)
			check(err)
		})
	}
	wg.Wait()
	check(p.Close())
	for begin := time.Now(); time.Since(begin) < time.Minute; { // for handlers of late calls, and timers
		if runtime.NumGoroutine() <= routines && count("/proc/self/fd") == files {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if n := count("/proc/self/fd"); n != files {
		check(fmt.Errorf("%d descriptors, %d before", n, files))
	}
	if n := runtime.NumGoroutine(); n > routines {
		stacks := make([]byte, 1<<16)
		check(fmt.Errorf("%d goroutines, %d before\n%s", n, routines, stacks[:runtime.Stack(stacks, true)]))
	}
	if _, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); err != unix.ECHILD {
		check(errors.New("a child is left"))
	}
}

func count(dir string) int {
	entries, err := os.ReadDir(dir)
	check(err)
	return len(entries)
}

// playBombs has programs that exhaust the memory of their workers, and checks the memory of this
// process.
func playBombs() {
	p, err := NewPool(Options{Kind: fakes, Max: 2, Memory: 64 << 20})
	check(err)
	bomb := func() {
		var wg sync.WaitGroup
		for _, source := range []string{"grow", "allocate", "recurse"} {
			wg.Go(func() {
				res, err := p.Run(context.Background(), nil, job(source), &enginetest.Host{})
				check(err)
				if res.Failure == nil {
					check(errors.New(source + " did not fail"))
				}
			})
		}
		wg.Wait()
	}
	bomb()
	before := peak()
	for range sample(1, 4) {
		bomb()
	}
	check(p.Close())
	if grown := peak() - before; grown > 20<<20 {
		check(fmt.Errorf("the host grew by %d bytes", grown))
	}
}

// peak returns the maximum resident memory of this process so far, in bytes.
func peak() int {
	status, err := os.ReadFile("/proc/self/status")
	check(err)
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kb := 0
	_, err = fmt.Sscan(rest, &kb)
	check(err)
	return kb << 10
}

func TestBombs(t *testing.T) {
	t.Parallel()
	cmd, log := play(t, "/proc/self/exe", "bombs")
	if err := cmd.Run(); err != nil {
		t.Error(err, log)
	}
}

// playForger starts a worker on a socket that was created by another process, its parent.
func playForger() {
	alive, _, err := os.Pipe()
	check(err)
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{child.Marker + fakes}, Env: []string{child.TokenEnv + "=x"},
		ExtraFiles: []*os.File{os.NewFile(harden.LinkFD, "socket"), alive},
	}
	out, _ := cmd.CombinedOutput()
	fmt.Fprintf(os.Stderr, "%d: %s", cmd.ProcessState.ExitCode(), out)
}

func TestForeignSocket(t *testing.T) {
	t.Parallel()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs, ours := os.NewFile(uintptr(pair[0]), "theirs"), os.NewFile(uintptr(pair[1]), "ours")
	defer theirs.Close()
	defer ours.Close()
	if err := worker.NewWriter(ours).Send(worker.KindHello, 0, worker.Hello{Token: "x", Memory: 1 << 26}); err != nil {
		t.Fatal(err)
	}
	cmd, log := play(t, "/proc/self/exe", "forger")
	cmd.ExtraFiles = []*os.File{theirs}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if got := log.String(); !strings.HasPrefix(got, "125: ") || !strings.Contains(got, "the parent process did not make the socket") {
		t.Error(got)
	}
}

func TestLeaks(t *testing.T) {
	t.Parallel()
	cmd, log := play(t, "/proc/self/exe", "leaks")
	if err := cmd.Run(); err != nil {
		t.Error(err, log)
	}
}

// TestForged starts the executable like a worker, in the ways that others could. Main must not be
// reached, or nothing must happen.
func TestForged(t *testing.T) {
	t.Parallel()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	socket := os.NewFile(uintptr(pair[0]), "socket")
	defer socket.Close()
	ours := os.NewFile(uintptr(pair[1]), "ours")
	defer ours.Close()
	null, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, tt := range []struct {
		name   string
		args   []string
		env    []string
		files  []*os.File
		status int
	}{
		{"name alone", []string{child.Marker + fakes}, nil, nil, child.StatusFailed},
		{"name and token", []string{child.Marker + fakes}, []string{child.TokenEnv + "=x"}, nil, child.StatusFailed},
		{"file", []string{child.Marker + child.Sandbox}, []string{child.TokenEnv + "=x"}, []*os.File{null, null},
			child.StatusFailed},
		{"no liveness", []string{child.Marker + fakes}, []string{child.TokenEnv + "=x"}, []*os.File{socket},
			child.StatusFailed},
		{"argument", []string{"x", "-test.run=^$", child.Marker + fakes}, nil, []*os.File{socket}, 0},
		{"token alone", []string{"x", "-test.run=^$"}, []string{child.TokenEnv + "=x"}, []*os.File{socket}, 0},
	} {
		cmd := &exec.Cmd{Path: "/proc/self/exe", Args: tt.args, Env: append(tt.env, "HOME=/"), ExtraFiles: tt.files}
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != tt.status {
			t.Errorf("%s: exit status %d, want %d\n%s", tt.name, got, tt.status, out)
		}
	}
}

func TestWrongToken(t *testing.T) {
	t.Parallel()
	c, err := start(&Options{Kind: fakes}, "right")
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.NewWriter(c.link).Send(worker.KindHello, 0, worker.Hello{Token: "wrong",
		Memory: 1 << 26}); err != nil {
		t.Fatal(err)
	}
	<-c.exited
	if got := c.cmd.ProcessState.ExitCode(); got != child.StatusFailed {
		t.Errorf("exit status %d", got)
	}
	c.kill()
}

func TestSurroundings(t *testing.T) {
	before := surroundings(t)
	leak, err := unix.Dup(0) // without CLOEXEC
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leak)
	after := surroundings(t)
	if before != after || !strings.HasPrefix(after, "[] UTC ") {
		t.Errorf("got %s, but %s before there was something to leak", after, before)
	}
}

// surroundings returns what a new worker sees of its environment.
func surroundings(t *testing.T) string {
	t.Helper()
	p := newPool(t, Options{})
	res, err := p.Run(t.Context(), nil, job("surroundings"), &enginetest.Host{})
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.Trim(res.Value, `"`))
}

func TestStatus(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Memory: 64 << 20})
	pid := first(p).cmd.Process.Pid
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(limits)) {
		f := strings.Fields(line)
		if strings.HasPrefix(line, "Max core") && f[4] != "0" || strings.HasPrefix(line,
			"Max file size") && f[3] != "0" || strings.HasPrefix(line, "Max open files") && f[3] != "0" {
			t.Error(line)
		}
		if strings.HasPrefix(line, "Max data") && f[3] == "unlimited" {
			t.Error(line)
		}
	}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(tasks) == 0 {
		t.Fatal(err, "no threads")
	}
	for _, task := range tasks {
		status, err := os.ReadFile(task)
		if err != nil {
			continue // it has ended
		}
		for _, line := range []string{"NoNewPrivs:\t1\n", "Seccomp:\t2\n"} {
			if !bytes.Contains(status, []byte(line)) {
				t.Errorf("%s has no line %q", task, line)
			}
		}
	}
	score, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid))
	if err != nil || string(score) != "1000\n" {
		t.Errorf("out-of-memory score %s, %v", score, err)
	}
}

func TestSilentStart(t *testing.T) {
	t.Parallel()
	_, err := NewPool(Options{Command: []string{"/bin/sleep", "100"}, StartTimeout: 100 * time.Millisecond})
	if err == nil || !strings.HasPrefix(err.Error(), "start worker: the worker was not ready in time") {
		t.Error(err)
	}
	_, err = NewPool(Options{Command: []string{"/bin/sh", "-c", "echo no luck >&2; exit 3"}})
	if err == nil || err.Error() != "start worker: the worker ended with exit status 3; its output: no luck" {
		t.Error(err)
	}
	_, err = NewPool(Options{Command: []string{"/bin/true"}})
	if err == nil ||
		err.Error() != "start worker: /bin/true exited at once and is not a worker: the command must be a program "+
			"that imports github.com/writ-go/writ/sandbox; its output: none" {
		t.Error(err)
	}
	if _, err = NewPool(Options{Command: []string{"/nowhere"}}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestKilledMeanwhile kills the worker that the next program would get, so that it dies before,
// while or after it gets the program. The program runs in another one.
func TestKilledMeanwhile(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Max: 1})
	for i := range sample(12, 60) {
		mustEcho(t, p, itoa(i))
		pid := first(p).cmd.Process.Pid
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		mustEcho(t, p, "after "+itoa(i))
	}
}
