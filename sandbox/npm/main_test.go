package npm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain replaces npm in most tests: a folder contains a link to the test binary named npm,
// and a plan of what it does.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "npm":
		syscall.Exit(fakeNpm()) // under the race detector, os.Exit waits for a second
	case "host":
		os.Exit(fakeHost())
	}
	code := m.Run()
	if err := leaked(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// leaked reports leaked goroutines. It waits up to a minute for goroutines to end, because
// on a busy machine they may need longer than goleak waits.
func leaked() (err error) {
	for begin := time.Now(); time.Since(begin) < time.Minute; {
		if err = goleak.Find(); err == nil {
			return nil
		}
	}
	return err
}
