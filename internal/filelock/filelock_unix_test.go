//go:build unix

package filelock_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/writ-go/writ/internal/filelock"
)

// A process that is being started has copies of all descriptors until it runs its program.
func TestCloseUnlocksCopies(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	first := open(t, path)
	if err := filelock.Own(first); err != nil {
		t.Fatal(err)
	}
	copied, err := syscall.Dup(int(first.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(copied) })
	if err := filelock.Close(first); err != nil {
		t.Fatal(err)
	}
	if err := filelock.Own(open(t, path)); err != nil {
		t.Errorf("after Close: %v", err)
	}
}
