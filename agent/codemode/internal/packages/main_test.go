package packages_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/writ-go/writ/internal/leaktest"
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
	os.Exit(leaktest.Run(m.Run))
}
