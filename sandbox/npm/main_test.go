package npm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain takes the place of npm in most tests: the binary is linked into a folder
// as npm, and what it is to do lies there too.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "npm":
		os.Exit(fakeNpm())
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
