package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent/codemode/internal/workspace"
	"golang.org/x/sys/unix"
)

// Links, pipes and folders that were planted in the storage folder have no effect outside of
// it. Reading neither follows nor waits for them, and writing changes nothing outside.
func TestPlanted(t *testing.T) {
	t.Parallel()
	store, dir := openStore(t, workspace.Limits{})
	ann := store.Space("ann")
	inside := newFile(t, ann, "inside.js", "inside").Handle
	outside := t.TempDir()
	if err := os.WriteFile(outside+"/secret", []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	owners, err := filepath.Glob(dir + "/owners/*")
	if err != nil || len(owners) != 1 {
		t.Fatal(owners, err)
	}
	folder := owners[0] + "/files/"
	for handle, plant := range map[string]func(path string) error{
		"absolute-aaaaaa.js": func(p string) error { return os.Symlink(outside+"/secret", p) },
		"within-aaaaaa.js":   func(p string) error { return os.Symlink(inside, p) },
		"dangling-aaaaaa.js": func(p string) error { return os.Symlink(outside+"/new", p) },
		"folder-aaaaaa.js":   func(p string) error { return os.Mkdir(p, 0o700) },
		"pipe-aaaaaa.js":     func(p string) error { return unix.Mkfifo(p, 0o600) },
		"null-aaaaaa.js":     func(p string) error { return unix.Mknod(p, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))) },
	} {
		if err := plant(folder + handle); errors.Is(err, unix.EPERM) {
			t.Logf("%s: only root may create one", handle)
		} else if err != nil {
			t.Fatal(err)
		}
		_, _, read := ann.Read(t.Context(), handle)
		_, appended := ann.Append(t.Context(), handle, "x")
		for _, err := range []error{read, appended} {
			errorIs(t, handle, err, workspace.ErrNotFound, `workspace: not found: you have no file "`+handle+`"`)
		}
	}
	if list, err := ann.Files(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if err := ann.RemoveFile(t.Context(), "absolute-aaaaaa.js"); err != nil {
		t.Error(err)
	}
	untouched(t, outside)
}

// The same is true if the folders themselves are replaced with links.
func TestPlantedFolders(t *testing.T) {
	t.Parallel()
	store, dir := openStore(t, workspace.Limits{})
	ann, bob := store.Space("ann"), store.Space("bob")
	environment, session := newEnvironment(t, ann, "data"), newSession(t, ann)
	outside := t.TempDir()
	if err := os.WriteFile(outside+"/secret", []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	owners, err := filepath.Glob(dir + "/owners/*")
	if err != nil || len(owners) != 1 {
		t.Fatal(owners, err)
	}
	for _, path := range []string{owners[0] + "/files", environment.Dir, owners[0] + "/sessions/" + session + "/record"} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, path); err != nil {
			t.Fatal(err)
		}
	}
	_, made := ann.NewFile(t.Context(), "a", "x")
	_, found := ann.Environment(t.Context(), "data")
	_, ran := ann.RunSession(t.Context(), session, inProcess(t), program("1"))
	for want, err := range map[string]error{
		"workspace: the storage folder: files is not a folder": made,
		"workspace: the session's record: it is not a file":    ran,
		"workspace: the environment " + environment.Handle +
			" has no folder for packages; remove the environment": found,
	} {
		if err == nil || err.Error() != want || strings.Contains(err.Error(), dir) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if err := errors.Join(ann.RemoveEnvironment(t.Context(), "data"), ann.RemoveSession(t.Context(),
		session)); err != nil {
		t.Error(err)
	}
	newFile(t, bob, "a", "x")
	if err := os.Rename(owners[0], dir+"/moved"); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{outside, "nowhere", "../moved"} {
		if err := os.Symlink(to, owners[0]); err != nil {
			t.Fatal(err)
		}
		if _, err := ann.NewFile(t.Context(), "a", "x"); err == nil || strings.Contains(err.Error(), dir) {
			t.Errorf("the owner's folder is a link: %v", err)
		}
		if err := os.Remove(owners[0]); err != nil {
			t.Fatal(err)
		}
	}
	untouched(t, outside)
}

// untouched checks that a folder is unchanged.
func untouched(t *testing.T, folder string) {
	t.Helper()
	text, err := os.ReadFile(folder + "/secret")
	if list, _ := filepath.Glob(folder + "/*"); err != nil || string(text) != "secret" || len(list) != 1 {
		t.Errorf("%q, %v; %q", text, err, list)
	}
}
