package packages

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// FS returns the current packages, under node_modules/, for the bundler. It does not change
// when packages are installed later, at least until the second change after the call. Links
// that point outside node_modules cannot be followed. If the environment cannot be opened,
// every read returns the error. An environment without packages is an empty folder.
func (e *Environment) FS() fs.FS {
	root, err := e.open()
	if err != nil {
		return broken{err}
	}
	sub, err := root.OpenRoot(modules)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return tree{root, nil}
	case err != nil:
		_ = root.Close()
		return broken{err}
	}
	return tree{root, sub}
}

type broken struct{ err error }

// Open always returns the error.
func (b broken) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: b.err}
}

// tree contains node_modules and nothing else of the folder of an environment. The roots
// are closed by their finalizers.
type tree struct{ top, modules *os.Root }

// Open opens node_modules or what is in it.
func (t tree) Open(name string) (fs.File, error) {
	rest, below := strings.CutPrefix(name, modules+"/")
	switch {
	case name == ".":
		f, err := t.top.Open(".")
		if err != nil {
			return nil, err
		}
		return topFolder{f}, nil
	case !fs.ValidPath(name):
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	case t.modules == nil || !below && name != modules:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case !below:
		return t.top.FS().Open(modules)
	}
	f, err := t.modules.FS().Open(rest)
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		pathErr.Path = name
	}
	return f, err
}

// topFolder is a folder that lists only node_modules.
type topFolder struct{ *os.File }

// ReadDir returns only node_modules.
func (d topFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	for {
		entries, err := d.File.ReadDir(n)
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() != modules })
		if len(entries) > 0 || err != nil || n <= 0 {
			return entries, err
		}
	}
}
