// Package leaktest checks that the tests of a package release their resources.
package leaktest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.uber.org/goleak"
)

// Run calls run, which runs a package's tests, and returns the exit code for the process. If the tests pass but leave a
// goroutine, a child process, a socket or a pipe behind, Run reports it and returns 1. It first waits up to a minute
// for them to end, because that takes time on a busy machine.
func Run(run func() int) int {
	before := Descriptors()
	if code := run(); code != 0 {
		return code
	}
	err := find(before)
	for begin := time.Now(); err != nil && time.Since(begin) < time.Minute; time.Sleep(10 * time.Millisecond) {
		err = find(before)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "left behind:", err)
		return 1
	}
	return 0
}

func find(before []string) error {
	if err := goleak.Find(); err != nil {
		return err
	}
	if left := Children(); len(left) > 0 {
		return fmt.Errorf("child processes %s", left)
	}
	for _, d := range Descriptors() {
		if !slices.Contains(before, d) {
			return fmt.Errorf("descriptor %s", d)
		}
	}
	return nil
}

// Descriptors returns the open sockets and pipes, if the operating system lists them.
func Descriptors() (list []string) {
	links, _ := filepath.Glob("/proc/self/fd/*")
	for _, link := range links {
		to, err := os.Readlink(link)
		if err == nil && (strings.HasPrefix(to, "socket:") || strings.HasPrefix(to, "pipe:")) {
			list = append(list, to)
		}
	}
	return list
}

// Children returns the IDs of the child processes that this process has not reaped, if the operating system lists
// them.
func Children() (list []string) {
	files, _ := filepath.Glob("/proc/self/task/*/children")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		list = append(list, strings.Fields(string(text))...)
	}
	return list
}
