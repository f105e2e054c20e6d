package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/writ-go/writ/agent/codemode/internal/workspace"
)

func newEnvironment(t testing.TB, space *workspace.Space, name string) workspace.Environment {
	t.Helper()
	e, err := space.NewEnvironment(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEnvironments(t *testing.T) {
	t.Parallel()
	store, dir := openStore(t, workspace.Limits{Environments: 2})
	ann, bob := store.Space("ann"), store.Space("bob")
	data := newEnvironment(t, ann, "data")
	if info, err := os.Stat(data.Dir); err != nil || !info.IsDir() || !filepath.IsAbs(data.Dir) ||
		!strings.HasPrefix(data.Dir, dir+"/") {
		t.Errorf("%s: %v", data.Dir, err)
	}
	if err := os.WriteFile(data.Dir+"/package.json", []byte("{}"), 0o600); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"data", data.Handle} {
		if e, err := ann.Environment(t.Context(),
			name); err != nil || e.Handle != data.Handle || e.Dir != data.Dir || e.Name != "data" {
			t.Errorf("%+v, %v", e, err)
		}
	}
	_, err := ann.NewEnvironment(t.Context(), "data")
	errorIs(t, "twice", err, workspace.ErrExists,
		`workspace: name already in use: you already have an environment "data"; use it or choose a different name`)
	_, err = ann.NewEnvironment(t.Context(), data.Handle)
	errorIs(t, "its handle", err, workspace.ErrExists,
		`workspace: name already in use: you already have an environment "`+data.Handle+
			`"; use it or choose a different name`)
	newEnvironment(t, ann, "b.2")
	_, err = ann.NewEnvironment(t.Context(), "c")
	errorIs(t, "count", err, workspace.ErrLimit,
		"workspace: over a limit: you have 2 environments and the limit is 2; nothing was created. Remove one that is "+
			"no longer needed")
	for _, handle := range []string{"data", data.Handle, "", "..", "../environments/" + data.Handle} {
		e, err := bob.Environment(t.Context(), handle)
		errorIs(t, "bob's", err, workspace.ErrNotFound, "workspace: not found: you have no environment \""+handle+`"`)
		if e != (workspace.Environment{}) {
			t.Errorf("%+v", e)
		}
	}
	if list, err := ann.Environments(t.Context()); err != nil || len(list) != 2 || list[0].Name != "b.2" ||
		list[1].Name != "data" {
		t.Errorf("%+v, %v", list, err)
	}
	if err := ann.RemoveEnvironment(t.Context(), "data"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(data.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	again := newEnvironment(t, ann, "data")
	if again.Handle == data.Handle {
		t.Error("the handle of a removed environment still works")
	}
	_, err = data.Lock(t.Context())
	errorIs(t, "lock", err, workspace.ErrNotFound, "workspace: not found: you have no environment \""+data.Handle+`"`)
}

func second[T any](_ T, err error) error { return err }

// No change of the folder is lost if the changes are made under the lock.
func TestEnvironmentLock(t *testing.T) {
	t.Parallel()
	store, dir := openStore(t, workspace.Limits{})
	e := newEnvironment(t, store.Space("ann"), "data")
	counter := filepath.Join(e.Dir, "n")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			unlock, err := e.Lock(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			defer unlock()
			var n int
			if text, err := os.ReadFile(counter); err == nil {
				n, _ = strconv.Atoi(string(text)) // if it is not a number, the sum is wrong
			}
			if err := os.WriteFile(counter, []byte(strconv.Itoa(n+1)), 0o600); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if text, err := os.ReadFile(counter); string(text) != "8" || err != nil {
		t.Errorf("%s, %v", text, err)
	}
	holder := start(t, "hold", dir)
	if got := holder.do(t, "data"); got != "held" {
		t.Fatal(got)
	}
	cause := errors.New("gone home")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, err := e.Lock(ctx)
	const gaveUp = "workspace: gave up waiting for a lock: context canceled: gone home"
	if errorIs(t, "held", err, context.Canceled, gaveUp); !errors.Is(err, cause) {
		t.Error(err)
	}
	free := newEnvironment(t, store.Space("ann"), "free")
	for range 20 {
		unlock, err := free.Lock(ctx)
		if err == nil {
			unlock()
			t.Fatal("a caller that stopped waiting has the lock")
		}
		errorIs(t, "free", err, context.Canceled, gaveUp)
	}
	if err := store.Space("ann").RemoveEnvironment(t.Context(), "free"); err != nil {
		t.Error(err)
	}
	age(t, dir+"/owners/*/environments/*/lock", 1000*time.Hour)
	removed, err := store.Sweep(t.Context()) // leaves it alone
	if removed != 0 || err != nil {
		t.Errorf("%d, %v", removed, err)
	}
	holder.die(t)
	// A process that another test starts would also hold the lock until its program begins.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	unlock, err := e.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	if removed, err := store.Sweep(t.Context()); removed != 1 || err != nil {
		t.Errorf("%d, %v", removed, err)
	}
}
