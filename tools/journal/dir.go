package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/writ-go/writ/internal/atomicfile"
	"github.com/writ-go/writ/internal/filelock"
	"github.com/writ-go/writ/tools/journal/internal/runid"
)

// Dir is a Store in files. Each run has a folder, with its log and its large records in plain text. If the owner of a
// run dies, the run can be opened at once. A Dir detects damaged files, but not files that were forged or replaced by
// earlier versions.
type Dir struct{ root *os.Root }

// OpenDir opens a folder of runs, and creates it if it does not exist. Its file system must support locks.
func OpenDir(path string) (*Dir, error) {
	err := os.MkdirAll(path, 0o700)
	if err == nil {
		err = atomicfile.SyncFolder(os.Open(filepath.Dir(filepath.Clean(path))))
	}
	root, bad := os.OpenRoot(path)
	if err = errors.Join(err, bad); err != nil {
		return nil, fmt.Errorf("journal: cannot open the folder of runs: %w", err)
	}
	return &Dir{root}, nil
}

// The owner of a run locks the file whose name is lockPrefix and the ID of the run. Its time is the time at which the
// run was created.
const lockPrefix = ".lock-"

// lock makes the caller the owner of a run until it unlocks the file.
func (d *Dir) lock(run string) (*os.File, error) {
	if err := runid.Check(run); err != nil {
		return nil, err
	}
	file, err := d.root.OpenFile(lockPrefix+run, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := d.own(file, run); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func (d *Dir) own(file *os.File, run string) error {
	ok, err := filelock.TryLock(file)
	if err != nil {
		return fmt.Errorf("choose a folder on a file system that supports locks: %w", err)
	}
	have, _ := file.Stat()
	now, _ := d.root.Stat(lockPrefix + run)
	if !ok || !os.SameFile(have, now) { // if the files differ, another owner has just removed the run
		return ErrInUse
	}
	return nil
}

// runFile implements [file].
type runFile struct {
	*os.File
	lock *os.File
	root *os.Root
	name string
}

// replace implements [file]. It closes the file, because Windows does not replace open files.
func (f *runFile) replace(data []byte) error {
	return errors.Join(f.File.Close(), atomicfile.Write(f.root, f.name+".new", f.name, data))
}

// Close implements [file].
func (f *runFile) Close() error {
	err := f.File.Close()
	if errors.Is(err, fs.ErrClosed) { // by replace
		err = nil
	}
	return errors.Join(err, filelock.Close(f.lock))
}

// Open implements [Store].
func (d *Dir) Open(_ context.Context, run string) (Log, error) {
	lock, err := d.lock(run)
	if err != nil {
		return nil, fmt.Errorf("journal: cannot lock run %q: %w", run, err)
	}
	l, err := d.open(run, lock)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("journal: cannot open run %q: %w", run, err), filelock.Close(lock))
	}
	return l, nil
}

func (d *Dir) open(run string, lock *os.File) (*fileLog, error) {
	if d.root.Mkdir(run, 0o700) == nil {
		_ = d.root.Chtimes(lockPrefix+run, time.Now(), time.Now()) // only the order of runs depends on it
	}
	name := run + "/log"
	data, err := readFile(d.root, name, maxLog)
	if errors.Is(err, fs.ErrNotExist) {
		data, _ = firstLine(run)
		err = atomicfile.Write(d.root, name+".new", name, data)
	}
	if err == nil { // even if the file exists, the process that created it may have died before it synced the folders
		err = errors.Join(atomicfile.SyncFolder(d.root.Open(run)), atomicfile.SyncFolder(d.root.Open(".")))
	}
	if err != nil {
		return nil, err
	}
	file, err := d.root.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	l, err := openLog(run, data, &runFile{file, lock, d.root, name}, d.root)
	if err != nil {
		_ = file.Close()
	}
	return l, err
}

// readFile returns the content of a file of at most limit bytes.
func readFile(root *os.Root, name string, limit int64) ([]byte, error) {
	info, err := root.Stat(name)
	if err == nil && info.Size() > limit {
		err = fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	if err != nil {
		return nil, err
	}
	return root.ReadFile(name)
}

// Runs implements [Store].
func (d *Dir) Runs(context.Context) ([]string, error) {
	entries, err := fs.ReadDir(d.root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("journal: cannot list the runs: %w", err)
	}
	created := map[string]time.Time{}
	for _, e := range entries {
		info, err := e.Info()
		if run, ok := strings.CutPrefix(e.Name(), lockPrefix); ok && err == nil {
			created[run] = info.ModTime()
		}
	}
	return slices.SortedFunc(maps.Keys(created), func(a, b string) int {
		return cmp.Or(created[a].Compare(created[b]), cmp.Compare(a, b))
	}), nil
}

// Remove implements [Store].
func (d *Dir) Remove(_ context.Context, run string) error {
	lock, err := d.lock(run)
	if err != nil {
		return fmt.Errorf("journal: cannot lock run %q: %w", run, err)
	}
	if err = d.root.RemoveAll(run); err == nil {
		err = d.root.Remove(lockPrefix + run)
	}
	return errors.Join(err, filelock.Close(lock))
}
