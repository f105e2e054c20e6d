package npm

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"time"
)

// FS returns the packages as they are now, under node_modules/, for the bundler.
// It stays what it is when packages are installed later, at least until the second
// installation after. Links that lead out of node_modules can't be followed. That
// the environment can't be opened is the error of everything that is read from it;
// an environment without packages has an empty folder.
func (e *Environment) FS() fs.FS {
	root, err := e.open()
	if err != nil {
		return broken{err}
	}
	defer root.Close()
	sub, err := root.OpenRoot(modules)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return tree{}
	case err != nil:
		return broken{err}
	}
	return tree{sub.FS()} // closed when nobody has it any more
}

type broken struct{ err error }

func (b broken) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: b.err}
}

// tree has one folder, node_modules, and what is in it: what else lies in the
// folder of an environment can't be read.
type tree struct{ modules fs.FS }

func (t tree) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if name == "." {
		return t.top()
	}
	rest, ok := strings.CutPrefix(name+"/", modules+"/")
	if !ok || t.modules == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if rest = strings.TrimSuffix(rest, "/"); rest == "" {
		rest = "."
	}
	f, err := t.modules.Open(rest)
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		pathErr.Path = name
	}
	return f, err
}

// top is the folder that holds node_modules, or nothing.
func (t tree) top() (fs.File, error) {
	if t.modules == nil {
		return &topDir{}, nil
	}
	info, err := fs.Stat(t.modules, ".")
	if err != nil {
		return nil, err
	}
	return &topDir{rest: []fs.DirEntry{fs.FileInfoToDirEntry(folder{modules, info.ModTime()})}}, nil
}

// topDir is "." when it is open.
type topDir struct{ rest []fs.DirEntry }

func (*topDir) Stat() (fs.FileInfo, error) { return folder{name: "."}, nil }
func (*topDir) Close() error               { return nil }

func (*topDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: ".", Err: errors.New("is a directory")}
}

func (d *topDir) ReadDir(n int) ([]fs.DirEntry, error) {
	entries := d.rest
	if d.rest = nil; n > 0 && len(entries) == 0 {
		return nil, io.EOF
	}
	return entries, nil
}

// folder describes a folder that can only be read.
type folder struct {
	name    string
	changed time.Time
}

func (f folder) Name() string       { return f.name }
func (folder) Size() int64          { return 0 }
func (folder) Mode() fs.FileMode    { return fs.ModeDir | 0o555 }
func (f folder) ModTime() time.Time { return f.changed }
func (folder) IsDir() bool          { return true }
func (folder) Sys() any             { return nil }
