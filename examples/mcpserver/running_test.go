//go:build integration

package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// In the process of the server a signal has it say how many goroutines there are:
// what it measures itself is for its operators.
func init() {
	if len(os.Args) < 2 || os.Args[1] != "mcpserver" {
		return
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		for range asked {
			fmt.Fprintf(os.Stderr, "goroutines=%d\n", runtime.NumGoroutine())
		}
	}()
}

// usage is what a process has.
type usage struct {
	rss         int // MB
	children    int // with theirs
	descriptors int
	goroutines  int
}

// usage measures the server.
func (r *running) usage(t *testing.T) usage {
	t.Helper()
	_ = r.cmd.Process.Signal(syscall.SIGUSR1)
	goroutines, err := strconv.Atoi(<-r.goroutines)
	if err != nil {
		t.Fatal(err)
	}
	return usage{
		rss:         rss(t, r.cmd.Process.Pid),
		children:    len(descendants(r.cmd.Process.Pid)),
		descriptors: len(glob(t, fmt.Sprintf("/proc/%d/fd/*", r.cmd.Process.Pid))),
		goroutines:  goroutines,
	}
}

func rss(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`VmRSS:\s*(\d+) kB`).FindSubmatch(status)
	kb, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kb / 1024
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// descendants are the processes that a process has started, and those that these
// have started.
func descendants(pid int) (all []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		_, after, found := strings.Cut(string(text), ") ")
		fields := strings.Fields(after)
		if err != nil || !found || fields[1] != strconv.Itoa(pid) || fields[0] == "Z" {
			continue // it has ended meanwhile, or is somebody else's
		}
		child, _ := strconv.Atoi(strings.Split(path, "/")[2])
		all = append(append(all, child), descendants(child)...)
	}
	return all
}
