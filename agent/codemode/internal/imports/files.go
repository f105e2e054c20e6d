package imports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/writ-go/writ/internal/bundling"
)

const (
	// maxPaths is the maximum number of paths in one request.
	maxPaths = 128
	// maxPath is the maximum length of a path, in bytes.
	maxPath = 1024
	// maxFile is the maximum size of one file, in bytes.
	maxFile = 4 << 20
	// maxAllowed is the maximum number of packages that may be read, including dependencies.
	maxAllowed = 50_000
	// lockFile is the file that npm rewrites whenever it changes the installed packages.
	lockFile = ".package-lock.json"
)

// snapshot serves package files, and no other files, to the worker that builds one bundle. The worker is not trusted. A
// snapshot is not safe for concurrent use.
type snapshot struct {
	root         fs.FS // node_modules
	files, bytes int   // how many more files and bytes may be read

	allowed map[string]bool  // packages that programs may import, and their dependencies
	folders map[string]bool  // folders that exist and are not symbolic links
	stamps  map[string]stamp // for lockFile and each package.json that was read, by path in root
}

// stamp is the size and modification time of a file, which show whether the file has changed.
type stamp struct {
	size int64
	time time.Time
}

func newSnapshot(root fs.FS, allow []string, files, bytes int) *snapshot {
	s := &snapshot{
		root: root, files: files, bytes: bytes,
		allowed: map[string]bool{}, folders: map[string]bool{}, stamps: map[string]stamp{},
	}
	for _, name := range allow {
		s.allowed[name] = true
	}
	s.stamps[lockFile] = stampOf(root, lockFile)
	return s
}

// stampOf returns the stamp of a file, or the zero stamp if the file does not exist.
func stampOf(root fs.FS, name string) stamp {
	info, err := fs.Lstat(root, name)
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime()}
}

// Changed implements [bundling.Snapshot].
func (s *snapshot) Changed() bool {
	for name, then := range s.stamps {
		if stampOf(s.root, name) != then {
			return true
		}
	}
	return false
}

// First implements [bundling.Files].
func (s *snapshot) First(paths []string) (bundling.File, error) {
	if len(paths) > maxPaths {
		return bundling.File{}, fmt.Errorf("a module has more than the allowed %d possible paths", maxPaths)
	}
	for _, p := range paths {
		if !s.reachable(p) || !s.regular(inRoot(p)) {
			continue
		}
		text, err := s.read(p)
		if err != nil {
			return bundling.File{}, err
		}
		return bundling.File{Path: p, Text: text}, nil
	}
	return bundling.File{}, nil
}

// inRoot converts a path such as node_modules/a/index.js to the path in snapshot.root: a/index.js.
func inRoot(name string) string { return strings.TrimPrefix(name, "node_modules/") }

// reachable reports whether name is the path of a file in a package that may be read.
func (s *snapshot) reachable(name string) bool {
	rest, ok := strings.CutPrefix(name, "node_modules/")
	if !ok || len(name) > maxPath || !fs.ValidPath(name) || strings.Contains(name, `\`) {
		return false
	}
	for {
		pkg, sub := split(rest)
		if pkg == "" || sub == "" || !s.allowed[pkg] {
			return false
		}
		nested, deeper := strings.CutPrefix(sub, "/node_modules/")
		if !deeper {
			return !strings.Contains(sub, "/node_modules/")
		}
		rest = nested
	}
}

// regular reports whether name is a regular file and no folder in its path is a symbolic link.
func (s *snapshot) regular(name string) bool {
	for i := range len(name) {
		if name[i] == '/' && !s.folder(name[:i]) {
			return false
		}
	}
	info, err := fs.Lstat(s.root, name)
	return err == nil && info.Mode().IsRegular()
}

// folder reports whether name is a folder and not a symbolic link. It caches only folders
// that exist, because the worker could invent any number of paths.
func (s *snapshot) folder(name string) bool {
	if s.folders[name] {
		return true
	}
	info, err := fs.Lstat(s.root, name)
	if err != nil || !info.IsDir() {
		return false
	}
	s.folders[strings.Clone(name)] = true
	return true
}

func (s *snapshot) read(name string) (string, error) {
	f, err := s.root.Open(inRoot(name))
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return "", fmt.Errorf("%s has more than %d bytes", name, maxFile)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	s.files--
	s.bytes -= len(text)
	switch {
	case err != nil:
		return "", err
	case len(text) > maxFile:
		return "", fmt.Errorf("%s has more than %d bytes", name, maxFile)
	case s.files < 0 || s.bytes < 0:
		return "", errors.New("the packages have more files or bytes than a program may import; import fewer packages")
	}
	if path.Base(name) == "package.json" {
		s.manifest(name, text)
		s.stamps[inRoot(name)] = stamp{info.Size(), info.ModTime()}
	}
	return string(text), nil
}

// manifest allows the worker to read the dependencies that a package.json lists.
func (s *snapshot) manifest(name string, text []byte) {
	_, sub := split(name[strings.LastIndex(name, "node_modules/")+len("node_modules/"):])
	if sub != "/package.json" {
		return
	}
	var m struct {
		Dependencies, PeerDependencies, OptionalDependencies map[string]json.RawMessage
	}
	if json.Unmarshal(text, &m) != nil {
		return
	}
	for _, list := range []map[string]json.RawMessage{m.Dependencies, m.PeerDependencies, m.OptionalDependencies} {
		for _, dependency := range slices.Sorted(maps.Keys(list)) { // so that maxAllowed always has the same effect
			if packageName(dependency) && len(s.allowed) < maxAllowed {
				s.allowed[dependency] = true
			}
		}
	}
}
