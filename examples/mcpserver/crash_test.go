//go:build integration

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// workers are the processes of a server that run programs.
func (r *running) workers(t *testing.T) (pids []int) {
	t.Helper()
	for _, pid := range descendants(r.cmd.Process.Pid) {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && !strings.Contains(string(line), "serve-test-files") {
			pids = append(pids, pid)
		}
	}
	return pids
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

// A worker is killed while a program runs: its result has the calls that it made, and the next program works.
func TestKilledMidway(t *testing.T) {
	t.Parallel()
	path, folder := config(t)
	r := launch(t, "-config", path)
	for _, version := range []string{newEra, oldEra} {
		session := dialed(t.Context(), t, r.url, "", version)
		var killer sync.WaitGroup
		killer.Go(func() {
			appears(t, filepath.Join(folder, version))
			killAll(t, r.workers(t))
		})
		// The file exists before the call that writes it is answered, so that the first call is answered.
		e, err := execute1(t.Context(), session, trial{timeout: 240, code: fmt.Sprintf(
			"for (const path of ['first', %q]) await fs.write_file({ path, content: '1' });\nfor (;;);", version)})
		killer.Wait()
		// The result does not say who killed the worker. Usually it is the kernel, because memory is short.
		if err != nil || e.Success || e.ErrorType != "MEMORY_LIMIT" || len(e.Calls) != 2 || !e.Calls[0].OK ||
			e.Calls[0].Tool != "fs.write_file" {
			t.Errorf("%s: a program whose worker was killed: %+v, %v", version, e, err)
		}
		next, err := execute1(t.Context(), session, trial{code: sumProgram})
		if err != nil || string(next.Result) != "7" {
			t.Errorf("%s: the next program gets %+v, %v", version, next, err)
		}
		session.Close()
	}
}
