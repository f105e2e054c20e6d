package workspace_test

import (
	"os"
	"testing"

	"github.com/writ-go/writ/internal/leaktest"
)

// TestMain also runs the processes that tests start: see child.
func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		os.Exit(play(role))
	}
	os.Exit(leaktest.Run(m.Run))
}
