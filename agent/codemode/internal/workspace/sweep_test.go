package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writ-go/writ/agent/codemode/internal/workspace"
	"github.com/writ-go/writ/sandbox"
)

// age changes the files that match a pattern as if they had been unused for the duration by.
func age(t *testing.T, pattern string, by time.Duration) {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || found == nil {
		t.Fatal(pattern, err)
	}
	then := time.Now().Add(-by)
	for _, file := range found {
		if err := os.Chtimes(file, then, then); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	store, dir := openStore(t, workspace.Limits{Unused: 48 * time.Hour})
	box := inProcess(t)
	ann, bob := store.Space("ann"), store.Space("bob")
	old, read := newFile(t, ann, "old", "1"), newFile(t, ann, "read", "2")
	unused, looked := newEnvironment(t, ann, "unused"), newEnvironment(t, ann, "looked")
	idle, run := newSession(t, ann), newSession(t, ann)
	newFile(t, bob, "only", "")
	newEnvironment(t, bob, "only")
	newSession(t, bob)
	age(t, dir+"/owners/*/files/*", 72*time.Hour)
	age(t, dir+"/owners/*/*/*/lock", 72*time.Hour)
	readFile(t, ann, read.Handle)
	if _, err := ann.Environment(t.Context(), "looked"); err != nil {
		t.Error(err)
	}
	runs(t, ann, run, box, "let a = 1; a", "1")
	if _, err := ann.Environments(t.Context()); err != nil {
		t.Error(err)
	}
	if removed, err := store.Sweep(t.Context()); removed != 6 || err != nil {
		t.Errorf("%d, %v", removed, err)
	}
	if _, _, err := ann.Read(t.Context(), old.Handle); !errors.Is(err, workspace.ErrNotFound) {
		t.Error(err)
	}
	if _, err := ann.Environment(t.Context(), unused.Handle); !errors.Is(err, workspace.ErrNotFound) {
		t.Error(err)
	}
	if _, err := ann.RunSession(t.Context(), idle, box, program("1")); !errors.Is(err, workspace.ErrNotFound) {
		t.Error(err)
	}
	holds(t, ann, read.Handle, "2")
	if _, err := ann.Environment(t.Context(), looked.Handle); err != nil {
		t.Error(err)
	}
	runs(t, ann, run, box, "a", "1")
	if left, _ := filepath.Glob(dir + "/owners/*"); len(left) != 1 {
		t.Errorf("an owner without files has a folder: %q", left)
	}
	newFile(t, bob, "again", "")
}

// Sweep removes the remains of changes that a crash interrupted.
func TestSweepLeftovers(t *testing.T) {
	t.Parallel()
	store, dir := openStore(t, workspace.Limits{})
	newFile(t, store.Space("ann"), "a", "1")
	owners, err := filepath.Glob(dir + "/owners/*")
	if err != nil || len(owners) != 1 {
		t.Fatal(owners, err)
	}
	for _, left := range []string{dir + "/owners/.tmp-x/sessions/y", owners[0] + "/files/.tmp-x",
		owners[0] + "/sessions/.tmp-y/z", owners[0] + "/environments/.tmp-y/packages"} {
		if err := os.MkdirAll(left, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if removed, err := store.Sweep(t.Context()); removed != 0 || err != nil {
		t.Errorf("%d, %v", removed, err)
	}
	err = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if strings.Contains(path, ".tmp-") {
			t.Errorf("left: %s", path)
		}
		return err
	})
	if list, bad := store.Space("ann").Files(t.Context()); err != nil || bad != nil || len(list) != 1 {
		t.Errorf("%v, %v, %v", list, err, bad)
	}
}

// A sweep does not affect owners who create and remove files at the same time.
func TestSweepConcurrently(t *testing.T) {
	t.Parallel()
	store, dir := openStore(t, workspace.Limits{})
	other := reopen(t, dir)
	stop, swept, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		first := sync.OnceFunc(func() { close(swept) })
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := other.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
			first()
		}
	}()
	defer func() {
		close(stop)
		<-ended
	}()
	<-swept
	ann := store.Space("ann")
	for range 100 {
		file := newFile(t, ann, "a", "1")
		holds(t, ann, file.Handle, "1")
		if err := ann.RemoveFile(t.Context(), file.Handle); err != nil { // its folder is now empty and will be removed
			t.Error(err)
		}
	}
}

func inProcess(t testing.TB) *sandbox.Sandbox {
	t.Helper()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	return box
}
