package module_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/writ-go/writ/sandbox"
)

// patience is longer than anything here takes, even on a slow and busy machine.
const patience = 10 * time.Minute

// patiently returns options with time limits that are never reached.
func patiently(l sandbox.Limits) *sandbox.Options {
	l.Time, l.Compute = patience, patience
	return &sandbox.Options{Limits: l}
}

// unhurried runs a test of cancellation with synthetic time, so that it does not depend on the speed of the machine.
func unhurried(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// noneLeft waits until no goroutine with the label is left.
func noneLeft(t *testing.T, label string) {
	t.Helper()
	for deadline := time.Now().Add(patience / 10); leftBehind(t, label); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("goroutines were left behind")
		}
	}
}
