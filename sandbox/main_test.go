package sandbox_test

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// full reports whether the tests run every case. Without it they run a sample of those
// that take long.
func full() bool { return os.Getenv("WRIT_TEST_FULL") == "1" }

// sampled reports whether to run a case. Unless all are run, about one in n is, and
// always the same ones. Under the race detector it is one in 4n: everything takes several
// times as long there, and the cases differ in what one goroutine does.
func sampled(name string, n uint32) bool {
	if raceDetector {
		n *= 4
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	return full() || h.Sum32()%n == 0
}

// TestMain checks that the tests, all of which close their sandboxes, leave no goroutine,
// child process or descriptor behind. The process may also be a host of TestAttacks, to
// which the same applies.
func TestMain(m *testing.M) {
	time.Local = time.UTC // as in a worker: a program in this process has the machine's zone
	before := descriptors()
	code := 0
	if archive := os.Getenv(attackEnv); archive == "" {
		code = m.Run()
	} else if err := attackHost(archive, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if code == 0 {
		err := leaks(before)
		// a busy machine takes its time
		for begin := time.Now(); err != nil && time.Since(begin) < time.Minute; time.Sleep(10 * time.Millisecond) {
			err = leaks(before)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "left behind:", err)
			code = 1
		}
	}
	os.Exit(code)
}

func leaks(before []string) error {
	if err := goleak.Find(); err != nil {
		return err
	}
	if left := children(); left != "" {
		return fmt.Errorf("child processes %s", left)
	}
	for _, d := range descriptors() {
		if !slices.Contains(before, d) {
			return fmt.Errorf("descriptor %s", d)
		}
	}
	return nil
}

// descriptors returns the open sockets and pipes, if the system lists them.
func descriptors() []string {
	var list []string
	links, _ := filepath.Glob("/proc/self/fd/*")
	for _, link := range links {
		to, err := os.Readlink(link)
		if err == nil && (strings.HasPrefix(to, "socket:") || strings.HasPrefix(to, "pipe:")) {
			list = append(list, to)
		}
	}
	return list
}

func children() string {
	var list []string
	files, _ := filepath.Glob("/proc/self/task/*/children")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		list = append(list, strings.Fields(string(text))...)
	}
	return strings.Join(list, " ")
}
