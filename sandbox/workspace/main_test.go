package workspace_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain may also be a process that a test has started: see child.
func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		os.Exit(play(role))
	}
	code := m.Run()
	if err := leaked(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// leaked gives goroutines a minute to end: on a busy machine they may need more than
// the moment that goleak itself waits.
func leaked() (err error) {
	for begin := time.Now(); time.Since(begin) < time.Minute; {
		if err = goleak.Find(); err == nil {
			return nil
		}
	}
	return err
}
