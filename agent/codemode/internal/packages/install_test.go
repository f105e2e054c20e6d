package packages_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/agent/codemode/internal/packages"
)

func TestInstall(t *testing.T) {
	t.Parallel()
	f := newFake(t, plan{Extra: 1})
	env, _ := f.environment(packages.Limits{})
	first, err := env.Install(t.Context(), []string{"b@1.0.0", "@s/a@2.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	extra := packages.Change{Name: "extra-0", Version: "0.0.1"}
	first.Duration = 0
	want := &packages.Report{
		Added: []packages.Change{
			{Name: "@s/a", Version: "2.0.0", Direct: true}, {Name: "b", Version: "1.0.0", Direct: true}, extra, extra,
		},
		Updated: []packages.Change{}, Removed: []packages.Change{}, Packages: 4, Bytes: first.Bytes,
	}
	// The blocks of node_modules, @s and the lock file; and, twice, of a package, its
	// node_modules, extra-0 and their two package.json files.
	if !reflect.DeepEqual(first, want) || first.Bytes != 13*4096 {
		t.Errorf("got  %+v\nwant %+v", first, want)
	}
	second, err := env.Install(t.Context(), []string{"b@1.1.0"})
	if err != nil {
		t.Fatal(err)
	}
	if updated := []packages.Change{{Name: "b", Version: "1.1.0", Previous: "1.0.0",
		Direct: true}}; !slices.Equal(second.Updated, updated) || len(second.Added)+len(second.Removed) > 0 {
		t.Errorf("got %+v", second)
	}
	importable(t, env, "@s/a", "b")
}

// TestReportIsOrdered installs a package at three paths, at one of them by name.
func TestReportIsOrdered(t *testing.T) {
	t.Parallel()
	f := newFake(t, plan{Extra: 9})
	env, _ := f.environment(packages.Limits{})
	report, err := env.Install(t.Context(), []string{"extra-0@0.0.1", "a@1"})
	if err != nil {
		t.Fatal(err)
	}
	var direct []bool
	for _, c := range report.Added {
		if c.Name == "extra-0" {
			direct = append(direct, c.Direct)
		}
	}
	if want := []bool{false, true, false}; !slices.Equal(direct, want) { // in the order of their paths
		t.Errorf("got %v, want %v", direct, want)
	}
}

// TestNothingChanges covers the ways in which an installation can fail.
func TestNothingChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plan plan
		o    packages.Limits
		want string
	}{
		"npm fails after writing": {plan{Exit: 3, Say: "npm error E404"}, packages.Limits{},
			"packages: nothing was changed: exit status 3. npm's last lines:\nnpm error E404"},
		"npm prints nothing": {plan{Exit: 3}, packages.Limits{},
			"packages: nothing was changed: exit status 3"},
		"npm does nothing": {plan{Nothing: true}, packages.Limits{},
			"packages: nothing was changed: npm reported success, but it did not install a"},
		"a link to the outside": {plan{Link: "../../.."}, packages.Limits{},
			"packages: nothing was changed: the link a/link points outside node_modules or to a missing file"},
		"an absolute link": {plan{Link: "/etc/passwd"}, packages.Limits{},
			"packages: nothing was changed: the link a/link points outside node_modules or to a missing file"},
		"a broken link": {plan{Link: "later"}, packages.Limits{},
			"packages: nothing was changed: the link a/link points outside node_modules or to a missing file"},
		"from git": {plan{From: "git+ssh://git@host/x.git#abc"}, packages.Limits{},
			"packages: nothing was changed: node_modules/a does not come from a registry"},
		"all from git": {plan{From: "git+ssh://git@host/x.git#abc", Extra: 30}, packages.Limits{},
			"packages: nothing was changed: node_modules/a does not come from a registry"},
		"from a file": {plan{From: "file:../x"}, packages.Limits{},
			"packages: nothing was changed: node_modules/a does not come from a registry"},
		"needs git": {plan{Needs: "owner/repository"}, packages.Limits{},
			"packages: nothing was changed: node_modules/a requires needed from a source other than a registry"},
		"needs an address": {plan{Needs: "https://host/needed.tgz"}, packages.Limits{},
			"packages: nothing was changed: node_modules/a requires needed from a source other than a registry"},
		"too large": {plan{Sparse: 1 << 20}, packages.Limits{MaxBytes: 1 << 20},
			"packages: nothing was changed: the environment would have at least 1064960 bytes; the limit is 1048576"},
		"too many": {plan{Extra: 2}, packages.Limits{MaxPackages: 3},
			"packages: nothing was changed: the environment would have at least 4 packages; the limit is 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, plan{})
			env, dir := f.environment(c.o)
			mustInstall(t, env, "before@1")
			before := snapshot(t, dir)
			f.set(c.plan)
			report, err := env.Install(t.Context(), []string{"a"})
			if report != nil || err == nil || err.Error() != c.want {
				t.Errorf("got\n%+v, %v\nwant\n%s", report, err, c.want)
			}
			compareFiles(t, snapshot(t, dir), before)
		})
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	f := newFake(t, plan{})
	env, dir := f.environment(packages.Limits{})
	mustInstall(t, env, "before@1")
	before := snapshot(t, dir)
	f.set(plan{Gate: g.address(), After: true, Child: true})
	for limit := 3 * time.Second; ; limit *= 3 {
		_, err := f.open(dir, packages.Limits{Timeout: limit}).Install(t.Context(), []string{"a", "b"})
		want := fmt.Sprintf("packages: nothing was changed: it took longer than %v to install a, b: context deadline exceeded",
			limit)
		if !errors.Is(err, context.DeadlineExceeded) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		npmAndChild := g.arrived()
		ended(t, npmAndChild)
		compareFiles(t, snapshot(t, dir), before)
		if len(npmAndChild) == 2 || limit > time.Minute {
			return
		} // otherwise the machine was too busy to start both
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	f := newFake(t, plan{Gate: g.address(), Child: true})
	env, _ := f.environment(packages.Limits{})
	ctx, cancel := context.WithCancelCause(t.Context())
	failed := make(chan error)
	go func() {
		_, err := env.Install(ctx, []string{"a"})
		failed <- err
	}()
	npmAndChild := []net.Conn{g.arrival(), g.arrival()}
	gone := errors.New("the client has gone")
	cancel(gone)
	if err := <-failed; !errors.Is(err, gone) || err.Error() != "packages: nothing was changed: the client has gone" {
		t.Errorf("got %v", err)
	}
	ended(t, npmAndChild)
}

// TestDiskIsWatched runs an npm that writes too much and does not end.
func TestDiskIsWatched(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	f := newFake(t, plan{Gate: g.address(), After: true, Sparse: 1 << 30})
	env, dir := f.environment(packages.Limits{MaxBytes: 1 << 20})
	held := make(chan net.Conn, 1) // otherwise the garbage collector would close it, and npm would continue
	go func() {
		conn, _ := g.Accept()
		held <- conn
	}()
	_, err := env.Install(t.Context(), []string{"a"})
	select {
	case conn := <-held:
		defer conn.Close()
	default: // it was never started
	}
	if limit := (*packages.LimitError)(nil); !errors.As(err, &limit) || limit.What != "bytes" || limit.Got < 1<<30 {
		t.Errorf("got %v", err)
	}
	if left := snapshot(t, dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// TestKilled kills the installing process after npm has written everything.
func TestKilled(t *testing.T) {
	t.Parallel()
	f := newFake(t, plan{})
	env, dir := f.environment(packages.Limits{})
	mustInstall(t, env, "before@1")
	packages, err := env.FS()
	if err != nil {
		t.Fatal(err)
	}
	state := snapshot(t, dir)
	g := newGate(t)
	f.set(plan{Gate: g.address(), After: true})
	host := exec.Command(filepath.Join(f.dir, "host"), dir, "a@1")
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	orphan := g.arrival()
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait()
	now := snapshot(t, dir)
	for name, text := range state {
		if now[name] != text {
			t.Errorf("%s was %q and is %q", name, text, now[name])
		}
	}
	importable(t, env, "before")
	f.set(plan{})
	mustInstall(t, env, "b@1") // although npm still runs
	_ = orphan.Close()
	mustInstall(t, env, "c@1")
	importable(t, env, "b", "before", "c")
	if left, err := filepath.Glob(filepath.Join(dir, "*-*")); err != nil || len(left) != 2 {
		t.Errorf("two generations should be kept, not %v, %v", left, err)
	}
	if _, err := packages.Open("a"); err == nil {
		t.Error("a package that was not installed can be read")
	}
}

// TestPreparedByHand opens a folder in which npm install was run, and which has an .npmrc.
func TestPreparedByHand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"package.json":                  `{"dependencies":{"old":"^1"},"devDependencies":{"dev":"1"}}`,
		".npmrc":                        "//registry/:_authToken=planted\nignore-scripts=false",
		"node_modules/old/package.json": `{"name":"old","version":"1.2.3"}`,
		"node_modules/.package-lock.json": `{"packages":{"node_modules/old":{"version":"1.2.3",` +
			`"resolved":"https://r/old.tgz"}}}`,
	} {
		write(t, filepath.Join(dir, name), text)
	}
	f := newFake(t, plan{})
	env := f.open(dir, packages.Limits{})
	importable(t, env, "old")
	tree, err := env.FS()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Open("../.npmrc"); err == nil {
		t.Error("a file next to the packages can be read")
	}
	before := snapshot(t, dir)
	mustInstall(t, env, "new@1")
	after := snapshot(t, dir)
	for name, text := range before {
		if after[name] != text {
			t.Errorf("%s was %q and is %q", name, text, after[name])
		}
	}
	for name, text := range after {
		if strings.Contains(text, "planted") && name != "/.npmrc" {
			t.Errorf("%s was copied", name)
		}
	}
	importable(t, env, "new", "old")
}

// limited opens an environment.
func limited(t *testing.T, dir string, o packages.Limits) *packages.Environment {
	t.Helper()
	env, err := packages.Limited(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// importable compares the packages that programs can import.
func importable(t *testing.T, env *packages.Environment, want ...string) {
	t.Helper()
	if got, err := env.Importable(); err != nil || !slices.Equal(got, want) {
		t.Errorf("importable are %v, %v; want %v", got, err, want)
	}
}

// wantError compares the text of an error.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func mustInstall(t *testing.T, env *packages.Environment, specs ...string) {
	t.Helper()
	if _, err := env.Install(t.Context(), specs); err != nil {
		t.Error(err)
	}
}

// ended waits until the processes at the other end of the connections have ended.
func ended(t *testing.T, conns []net.Conn) {
	t.Helper()
	for _, conn := range conns {
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("a process is still running")
		}
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(name), 0o700)
	if err == nil {
		err = os.WriteFile(name, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
