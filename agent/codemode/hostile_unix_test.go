//go:build unix

package codemode

import (
	"os"
	"syscall"
	"testing"
)

// TestPipeForConfig puts a pipe in the place of the configuration, which nobody
// writes to: all stays as it was, and the server can still end.
func TestPipeForConfig(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	session, a := begin(t, setup{Options: Options{Config: path}})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	want := path + " is not a regular file"
	if err := a.catalog.reload(t.Context()); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if s := a.catalog.stamp(); s != (stamp{}) {
		t.Errorf("the pipe is taken for a changed file: %+v", s)
	}
	wantResult(t, session, `await fs.read_text_file({path: "a.txt"})`, `"3"`)
}
