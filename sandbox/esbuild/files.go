package esbuild

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
	"sync"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

const (
	// maxPaths is how many places a module may be looked for at once.
	maxPaths = 128
	// maxPath is how long a path may be.
	maxPath = 1024
	// maxFile is how long one file may be.
	maxFile = 4 << 20
	// maxAllowed is how many packages the others may depend on.
	maxAllowed = 50_000
	// lockFile is what npm writes whenever it has changed what is installed.
	lockFile = "node_modules/.package-lock.json"
)

// shelf gives a worker the files of packages, and no others. It is the host of one
// bundling: the worker is believed nothing.
type shelf struct {
	root         fs.FS
	files, bytes int // left

	mu      sync.Mutex
	allowed map[string]bool  // packages: those that programs may import, and what these depend on
	folders map[string]bool  // that are no links
	stamps  map[string]stamp // of what says which packages there are
	trouble error            // why the root could not be read
}

// stamp is what changes when a file does.
type stamp struct {
	size int64
	time time.Time
}

func newShelf(root fs.FS, allow []string, files, bytes int) *shelf {
	s := &shelf{
		root: root, files: files, bytes: bytes,
		allowed: map[string]bool{}, folders: map[string]bool{}, stamps: map[string]stamp{},
	}
	for _, name := range allow {
		s.allowed[name] = true
	}
	s.stamps[lockFile] = stampOf(root, lockFile)
	return s
}

// stampOf is the zero stamp where there is no such file.
func stampOf(root fs.FS, name string) stamp {
	info, err := fs.Lstat(root, name)
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime()}
}

// Report implements [engine.Host].
func (s *shelf) Report(engine.Report) func() bool { return func() bool { return true } }

// Call implements [engine.Host].
func (s *shelf) Call(c engine.Call, reply func(engine.Reply)) func() {
	return func() {
		f, err := s.answer(c.Args)
		if err != nil {
			reply(engine.Reply{Error: &engine.ToolError{Tool: "files.first", Kind: "failed", Message: err.Error()}})
			return
		}
		value, _ := json.Marshal(f) // it can't fail
		reply(engine.Reply{Value: value})
	}
}

func (s *shelf) answer(args json.RawMessage) (found, error) {
	var r request
	if err := json.Unmarshal(args, &r); err != nil {
		return found{}, err
	}
	return s.First(r.Paths)
}

// First implements [files].
func (s *shelf) First(paths []string) (found, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(paths) > maxPaths {
		return found{}, fmt.Errorf("a module would be searched for in more than %d places", maxPaths)
	}
	for _, p := range paths {
		if !s.reachable(p) || !s.regular(p) {
			continue
		}
		text, err := s.read(p)
		if err != nil {
			return found{}, err
		}
		return found{Path: p, Text: text}, nil
	}
	return found{}, nil
}

// reachable reports whether a path is that of a file in a package that may be read.
func (s *shelf) reachable(name string) bool {
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

// regular reports whether there is such a file, and no link on the way to it.
func (s *shelf) regular(name string) bool {
	for i := range len(name) {
		if name[i] == '/' && !s.folder(name[:i]) {
			return false
		}
	}
	info, err := fs.Lstat(s.root, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.trouble = err
	}
	return err == nil && info.Mode().IsRegular()
}

// folder notes only folders that are there: the worker may make up others without
// end.
func (s *shelf) folder(name string) bool {
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

func (s *shelf) read(name string) (string, error) {
	f, err := s.root.Open(name)
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
		return "", errors.New("the packages have more files or more bytes than a program may import")
	}
	if path.Base(name) == "package.json" {
		s.manifest(name, text)
		s.stamps[name] = stamp{info.Size(), info.ModTime()}
	}
	return string(text), nil
}

// manifest lets what a package depends on be read, too.
func (s *shelf) manifest(name string, text []byte) {
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
		for _, dependency := range slices.Sorted(maps.Keys(list)) { // not all may find room
			if packageName(dependency) && len(s.allowed) < maxAllowed {
				s.allowed[dependency] = true
			}
		}
	}
}
