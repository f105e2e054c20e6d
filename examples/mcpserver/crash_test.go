//go:build integration

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
	t.Errorf("there is no %s", path)
}

// A worker, or the server of tools, is killed while a program runs: its result
// says what it had done, and the next program works.
func TestKilledMidway(t *testing.T) {
	t.Parallel()
	path, folder := config(t)
	r := launch(t, "-transport", "http", "-config", path, "-calls", "10000")
	for _, version := range []string{newEra, oldEra} {
		session := dialed(t.Context(), t, r.url, "", version)
		during := func(mark, code string, kill func()) execution {
			t.Helper()
			done := make(chan struct{})
			go func() {
				defer close(done)
				appears(t, filepath.Join(folder, mark))
				kill()
			}()
			e, err := execute1(t.Context(), session, trial{code: fmt.Sprintf("await fs.write_file({ path: %q, content: '1' });\n", mark) + code, timeout: 20})
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
		e := during("worker-"+version, "for (;;);", func() {
			_, workers := r.processes(t)
			killAll(t, workers)
		})
		// Who kills a worker cannot be told; mostly it is the kernel, for its memory.
		if e.ErrorType != "MEMORY_LIMIT" || len(e.Calls) != 1 {
			t.Errorf("%s: a program whose worker was killed: %+v", version, e)
		}
		e = during("upstream-"+version, "for (;;) { await fs.read_text_file({ path: 'a.txt' }); await sleep(1) }", func() {
			upstream, _ := r.processes(t)
			for _, pid := range upstream {
				_ = syscall.Kill(pid, syscall.SIGSTOP)
			}
			time.Sleep(200 * time.Millisecond) // a call is on its way by now, and has no answer
			killAll(t, upstream)
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
	var all sync.WaitGroup
	for c := range files {
		session := dialed(t.Context(), t, r.url, "", newEra)
		f, err := answered[codeFile](t.Context(), session, "initialize_code_file", map[string]any{"content": ""})
		if err != nil {
			t.Fatal(err)
		}
		files[c].path = f.FilePath
		all.Go(func() {
			defer session.Close()
			for i := 0; ; i++ {
				args := map[string]any{"file_path": f.FilePath, "content": line(c, i)}
				if _, err := answered[codeFile](t.Context(), session, "append_to_code_file", args); err != nil {
					files[c].acknowledged = i
					return
				}
			}
		})
	}
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
	for _, path := range glob(t, filepath.Join(storage, "*", "*", "*tmp*")) {
		t.Errorf("%s is left", path)
	}
}

// readAll reads a code file, part by part.
func readAll(t *testing.T, session *mcp.ClientSession, path string) (text string) {
	t.Helper()
	offset := int64(0)
	for {
		part, err := answered[filePart](t.Context(), session, "read_code_file", map[string]any{"file_path": path, "offset": offset})
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
