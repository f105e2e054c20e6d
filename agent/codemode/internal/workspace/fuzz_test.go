package workspace_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent/codemode/internal/workspace"
)

// FuzzName creates files with any name. Each file must be in the correct folder and be found
// again, or the name must be rejected.
func FuzzName(f *testing.F) {
	for _, name := range []string{"report.js", "a", "a.b.c", "x-123456.js", "../a", "a/b", ".", "..", "CON", "nul.txt",
		"-", "a.", "ä", "\x00", "lock", "a--------"} {
		f.Add(name, "content")
	}
	store, dir := openStore(f, workspace.Limits{Files: 1 << 30})
	f.Fuzz(func(t *testing.T, name, content string) {
		ann := store.Space("ann")
		file, err := ann.NewFile(t.Context(), name, content)
		if err != nil {
			if !errors.Is(err, workspace.ErrName) && !errors.Is(err, workspace.ErrLimit) {
				t.Fatal(err)
			}
			return
		}
		if file.Name != name || readFile(t, ann, file.Handle) != content {
			t.Fatalf("%q became %+v", name, file)
		}
		if found, err := filepath.Glob(dir + "/owners/*/files/" + file.Handle); len(found) != 1 || err != nil {
			t.Fatalf("%q, %v", found, err)
		}
		list, err := ann.Files(t.Context())
		if err != nil || len(list) != 1 || list[0].Handle != file.Handle || list[0].Name != name {
			t.Fatalf("%+v, %v", list, err)
		}
		if err := ann.RemoveFile(t.Context(), file.Handle); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzHandle looks up any handle. An owner without files must never find anything.
func FuzzHandle(f *testing.F) {
	store, _ := openStore(f, workspace.Limits{})
	other := newFile(f, store.Space("ann"), "report.js", "secret").Handle
	for _, handle := range []string{other, "report-aaaaaa.js", "../" + other, "files/" + other, "..", "", "lock",
		"0-none", "/", "\xff", strings.Repeat("a", 300)} {
		f.Add(handle)
	}
	f.Fuzz(func(t *testing.T, handle string) {
		bob := store.Space("bob")
		_, _, read := bob.Read(t.Context(), handle)
		_, appended := bob.Append(t.Context(), handle, "x")
		_, environment := bob.Environment(t.Context(), handle)
		_, session := bob.RunSession(t.Context(), handle, nil, program("1"))
		for _, err := range []error{read, appended, environment, session, bob.RemoveFile(t.Context(), handle),
			bob.RemoveEnvironment(t.Context(), handle), bob.RemoveSession(t.Context(), handle)} {
			if !errors.Is(err, workspace.ErrNotFound) {
				t.Fatal(err)
			}
		}
		if list, err := store.Space("ann").Files(t.Context()); len(list) != 1 || err != nil {
			t.Fatalf("%v, %v", list, err)
		}
	})
}
