package filelock_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/writ-go/writ/internal/filelock"
)

func open(t testing.TB, path string) *os.File {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

func TestOneOwnerAtATime(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	first, second := open(t, path), open(t, path)
	if err := filelock.Own(first); err != nil {
		t.Fatal(err)
	}
	if ok, err := filelock.TryLock(second); ok || err != nil {
		t.Errorf("TryLock of a locked file: %v, %v; want false and no error", ok, err)
	}
	if err := filelock.Own(second); !errors.Is(err, filelock.ErrInUse) {
		t.Errorf("Own of a locked file: %v; want ErrInUse", err)
	}
	if _, err := first.WriteString("written while locked"); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "written while locked" {
		t.Errorf("others read %q, %v", text, err)
	}
	filelock.Close(first)
	if ok, err := filelock.TryLock(second); !ok || err != nil {
		t.Errorf("TryLock of a file that was closed: %v, %v; want true", ok, err)
	}
}

func ExampleOwn() {
	folder, err := os.MkdirTemp("", "filelock")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	for range 2 {
		file, err := os.Create(filepath.Join(folder, "log"))
		if err != nil {
			panic(err)
		}
		defer file.Close()
		fmt.Println(filelock.Own(file))
	}
	// Output:
	// <nil>
	// another process is using it
}
