package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/writ-go/writ/internal/atomicfile"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	root, err := os.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := errors.Join(root.Mkdir("a", 0o700), root.Mkdir("a/folder", 0o700),
		root.WriteFile("a/temp", []byte("left by a crash"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"old", "new and longer", ""} {
		half := len(text) / 2
		if err := atomicfile.Write(root, "a/temp", "a/file", []byte(text[:half]), []byte(text[half:])); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(path, "a", "file")); err != nil || string(got) != text {
			t.Errorf("got %q, %v; want %q", got, err, text)
		}
	}
	if err := atomicfile.Write(root, "a/temp", "a/folder", nil); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if _, err := root.Stat("a/temp"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the temporary file remains: %v", err)
	}
	if err := atomicfile.SyncFolder(root.Open("missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that does not exist: %v", err)
	}
}
