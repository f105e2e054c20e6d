package workspace_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain may also be a process that a test has started: see child.
func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		os.Exit(play(role))
	}
	goleak.VerifyTestMain(m)
}
