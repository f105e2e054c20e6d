package workspace_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain also runs the processes that tests start: see child.
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
