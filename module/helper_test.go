package module_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/writ-go/writ/sandbox"
)

// patience is longer than anything takes here, however slow or busy the machine is.
const patience = 10 * time.Minute

// patiently returns options with limits, of which those of time are never come to.
func patiently(l sandbox.Limits) *sandbox.Options {
	l.Time, l.Compute = patience, patience
	return &sandbox.Options{Limits: l}
}

// unhurried runs a test in which something is told to stop. A tool has a fifth of a
// second for that, and a program two: here they pass only when nothing else happens.
func unhurried(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// noneLeft waits for the goroutines that inherited the label.
func noneLeft(t *testing.T, label string) {
	t.Helper()
	for deadline := time.Now().Add(patience / 10); leftBehind(t, label); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("goroutines were left behind")
		}
	}
}
