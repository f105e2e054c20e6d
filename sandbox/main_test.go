package sandbox_test

import (
	"fmt"
	"hash/fnv"
	"os"
	"testing"
	"time"

	"github.com/writ-go/writ/internal/leaktest"
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

// TestMain checks that the tests, all of which close their sandboxes, leave nothing behind. The process may
// also be a host of TestAttacks or TestRepeat, to which the same applies.
func TestMain(m *testing.M) {
	archive, recordings := os.Getenv(attackEnv), os.Getenv(repeatFileEnv)
	if recordings == "" {
		time.Local = time.UTC // as in a worker: a program in this process has the machine's zone
	}
	os.Exit(leaktest.Run(func() int {
		var err error
		switch {
		case archive != "":
			err = attackHost(archive, os.Stdout)
		case recordings != "":
			err = repeatAll(recordings, os.Stdout)
		default:
			return m.Run()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}))
}
