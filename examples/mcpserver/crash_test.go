//go:build integration

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sys/unix"
)

// answered calls a tool and decodes its structured result; the error is the
// client's or the server's.
func answered[T any](ctx context.Context, session *mcp.ClientSession, tool string, args any) (T, error) {
	var into T
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return into, err
	}
	return into, decode(result, &into)
}

// kinds are the processes of a server: of one there is the files server, the
// others run programs.
func (r *running) processes(t *testing.T) (upstream, workers []int) {
	t.Helper()
	for _, pid := range descendants(r.cmd.Process.Pid) {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			continue // it has just ended
		}
		if strings.Contains(string(line), "serve-test-files") {
			upstream = append(upstream, pid)
		} else {
			workers = append(workers, pid)
		}
	}
	return upstream, workers
}

// killAll kills processes, and waits until nothing of them is left.
func killAll(t *testing.T, pids []int) {
	t.Helper()
	if len(pids) == 0 {
		t.Error("there is no process to kill")
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	for _, pid := range pids {
		for len(glob(t, fmt.Sprintf("/proc/%d/fd/*", pid))) > 0 || len(glob(t, fmt.Sprintf("/proc/%d/task/*", pid))) > 1 {
			time.Sleep(time.Millisecond)
		}
	}
}

// appears waits for a file.
func appears(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
	t.Errorf("there is no %s", path)
}

// stopsBefore stops processes at a moment when one of them has been sent a call
// that it has not begun to read. Stopped at another, such as between reading a
// call and answering it, they go on for a while and are stopped again.
func stopsBefore(t *testing.T, pids []int) {
	t.Helper()
	signal := func(s syscall.Signal) {
		for _, pid := range pids {
			_ = syscall.Kill(pid, s)
		}
	}
	called := func(pid int) bool { return unread(pid) > 0 }
	for patience := time.Second; patience < 2*time.Minute; patience *= 2 {
		signal(syscall.SIGSTOP)
		for slices.ContainsFunc(pids, func(pid int) bool { return !stopped(t, pid) }) {
			time.Sleep(time.Millisecond)
		}
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if slices.ContainsFunc(pids, called) {
				return
			}
		}
		signal(syscall.SIGCONT)
		time.Sleep(rand.N(100 * time.Millisecond))
	}
	t.Error("nobody calls a tool")
}

// stopped reports whether no thread of a process runs any more. The first of them
// to hear of a signal to stop tells the others, which go on until then.
func stopped(t *testing.T, pid int) bool {
	t.Helper()
	for _, path := range glob(t, fmt.Sprintf("/proc/%d/task/*/stat", pid)) {
		stat, err := os.ReadFile(path)
		if _, state, _ := strings.Cut(string(stat), ") "); err == nil && strings.ContainsAny(state[:1], "RSD") {
			return false
		}
	}
	return true
}

// unread is how much a process has still to read of its input.
func unread(pid int) int {
	input, err := os.Open(fmt.Sprintf("/proc/%d/fd/0", pid))
	if err != nil {
		return 0
	}
	defer input.Close()
	n, _ := unix.IoctlGetInt(int(input.Fd()), unix.TIOCINQ)
	return n
}

// A worker, or the server of tools, is killed while a program runs: its result
// says what it had done, and the next program works.
func TestKilledMidway(t *testing.T) {
	t.Parallel()
	path, folder := config(t)
	r := launch(t, "-transport", "http", "-config", path)
	for _, version := range []string{newEra, oldEra} {
		session := dialed(t.Context(), t, r.url, "", version)
		during := func(mark, code string, kill func(ended <-chan struct{})) execution {
			t.Helper()
			done, ended := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				appears(t, filepath.Join(folder, mark))
				kill(ended)
			}()
			// The mark is there before the call that makes it has been answered: it is the second.
			marked := fmt.Sprintf("for (const path of ['first', %q]) await fs.write_file({ path, content: '1' });\n", mark)
			e, err := execute1(t.Context(), session, trial{code: marked + code, timeout: 240})
			close(ended)
			<-done
			if err != nil {
				t.Fatal(err)
			}
			if e.Success || len(e.Calls) == 0 || e.Calls[0].Tool != "fs.write_file" || !e.Calls[0].OK {
				t.Errorf("%s: after the kill %.2000s", version, fmt.Sprintf("%+v", e))
			}
			next, err := execute1(t.Context(), session, trial{code: sumProgram})
			if err != nil || string(next.Result) != "7" {
				t.Errorf("%s: the next program gets %+v, %v", version, next, err)
			}
			return e
		}
		e := during("worker-"+version, "for (;;);", func(<-chan struct{}) {
			_, workers := r.processes(t)
			killAll(t, workers)
		})
		// Who kills a worker cannot be told; mostly it is the kernel, for its memory.
		if e.ErrorType != "MEMORY_LIMIT" || len(e.Calls) != 2 {
			t.Errorf("%s: a program whose worker was killed: %+v", version, e)
		}
		e = during("upstream-"+version, "for (;;) { await fs.read_text_file({ path: 'a.txt' }); await sleep(100) }",
			func(ended <-chan struct{}) {
				for { // what the server is sent may be a listing, whose loss no program notices
					upstream, _ := r.processes(t)
					stopsBefore(t, upstream)
					killAll(t, upstream)
					select {
					case <-ended:
						return
					case <-time.After(10 * time.Second):
					}
				}
			})
		last := e.Calls[len(e.Calls)-1]
		if e.ErrorType != "TOOL_ERROR" || last.OK || last.Error == "" {
			t.Errorf("%s: a program whose tools were killed: %s, %+v", version, e.ErrorType, last)
		}
		session.Close()
	}
}

// The server is killed while clients build files: what it has acknowledged is
// there, and what it has not is there as a whole or not at all.
func TestKilledWhileWriting(t *testing.T) {
	t.Parallel()
	storage := t.TempDir()
	args := []string{"-transport", "http", "-storage", storage}
	r := launch(t, args...)
	line := func(c, i int) string { return fmt.Sprintf("// %d %d %s\n", c, i, strings.Repeat("x", 2000)) }
	type built struct {
		path         string
		acknowledged int
	}
	files := make([]built, 4)
	var all, begun sync.WaitGroup
	for c := range files {
		session := dialed(t.Context(), t, r.url, "", newEra)
		f, err := answered[codeFile](t.Context(), session, "initialize_code_file", map[string]any{"content": ""})
		if err != nil {
			t.Fatal(err)
		}
		files[c].path = f.FilePath
		begun.Add(1)
		all.Go(func() {
			defer session.Close()
			once := sync.OnceFunc(begun.Done)
			defer once()
			for i := 0; ; i++ {
				if i > 0 {
					once()
				}
				args := map[string]any{"file_path": f.FilePath, "content": line(c, i)}
				if _, err := answered[codeFile](t.Context(), session, "append_to_code_file", args); err != nil {
					files[c].acknowledged = i
					return
				}
			}
		})
	}
	begun.Wait()
	time.Sleep(500 * time.Millisecond) // in the middle of it
	r.kill()
	all.Wait()
	session := dialed(t.Context(), t, launch(t, args...).url, "", oldEra)
	defer session.Close()
	for c, f := range files {
		text := readAll(t, session, f.path)
		want := ""
		for i := range f.acknowledged {
			want += line(c, i)
		}
		if text != want && text != want+line(c, f.acknowledged) || f.acknowledged == 0 {
			t.Errorf("%d additions were acknowledged, and the file has %d bytes that are not them", f.acknowledged, len(text))
		}
	}
	left := func() []string { return glob(t, filepath.Join(storage, "*", "*", "*tmp*")) }
	for end := time.Now().Add(2 * time.Minute); len(left()) > 0 && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond) // the server sweeps while it serves
	}
	for _, path := range left() {
		t.Errorf("%s is left", path)
	}
}

// readAll reads a code file, part by part.
func readAll(t *testing.T, session *mcp.ClientSession, path string) (text string) {
	t.Helper()
	offset := int64(0)
	for {
		part, err := answered[codeFile](t.Context(), session, "read_code_file",
			map[string]any{"file_path": path, "offset": offset})
		if err != nil {
			t.Fatal(err)
		}
		text += part.Content
		if part.NextOffset == nil {
			return text
		}
		offset = *part.NextOffset
	}
}
