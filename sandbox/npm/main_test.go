package npm_test

import (
	"os"
	"path/filepath"
	"testing"

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
	goleak.VerifyTestMain(m)
}
