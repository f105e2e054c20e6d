package packages

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The files of an environment. Its packages are in generations: folders that do not change after the state file names
// them. A change creates a new generation and then replaces the state file.
const (
	stateName    = "environment.json"
	settingsName = "settings.json"
	prefix       = "packages-" // of generation names
	modules      = "node_modules"
	record       = ".package-lock.json" // npm's record of what is in node_modules

	maxState = 64 << 10
)

// state is the content of the state file. The previous generation is kept for programs that still read it.
type state struct {
	Current  string `json:"current"` // empty if the packages are in the folder itself, as prepared by hand
	Previous string `json:"previous,omitempty"`
}

func (e *Environment) state() (state, error) {
	var s state
	data, err := readBounded(os.DirFS(e.dir), stateName, maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err == nil && !(isGeneration(s.Current) && (s.Previous == "" || isGeneration(s.Previous))) {
		err = errors.New("it names a folder that this package did not create")
	}
	if err != nil {
		return s, fmt.Errorf("packages: %s of the environment is unusable; remove the file to start over: %w",
			stateName, err)
	}
	return s, nil
}

func isGeneration(name string) bool {
	return strings.HasPrefix(name, prefix) && filepath.Base(name) == name
}

// open opens the current generation. If two changes have removed that generation since its name was
// read, open tries again.
func (e *Environment) open() (*os.Root, error) {
	for {
		s, err := e.state()
		if err != nil {
			return nil, err
		}
		root, err := os.OpenRoot(filepath.Join(e.dir, s.Current))
		if err == nil {
			return root, nil
		}
		if now, _ := e.state(); now == s {
			return nil, fmt.Errorf("packages: opening an environment: %w", err)
		}
	}
}

// begin creates a new generation with the current generation's content. It does not copy other files from a folder
// prepared by hand, such as .npmrc.
func (e *Environment) begin() (dir string, err error) {
	if dir, err = os.MkdirTemp(e.dir, prefix+"*"); err != nil {
		return "", err
	}
	root, err := e.open()
	if err != nil {
		return dir, err
	}
	defer root.Close()
	for _, name := range []string{"package.json", "package-lock.json"} {
		data, err := readBounded(root.FS(), name, maxListing)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		if err != nil {
			return dir, err
		}
	}
	return dir, copyModules(root, dir)
}

// copyModules copies the packages and npm's record of them. npm trusts the record only if no
// package is newer than the record.
func copyModules(from *os.Root, dir string) error {
	sub, err := from.OpenRoot(modules)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer sub.Close()
	to := filepath.Join(dir, modules)
	if err := os.CopyFS(to, sub.FS()); err != nil || !isGeneration(filepath.Base(from.Name())) {
		return err // a folder prepared by hand may have changed since npm wrote its record
	}
	now := time.Now()
	err = os.Chtimes(filepath.Join(to, record), now, now)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// commit makes a generation the current one.
func (e *Environment) commit(dir string) error {
	s, err := e.state()
	if err != nil {
		return err
	}
	return e.replace(stateName, state{Current: filepath.Base(dir), Previous: s.Current})
}

// sweep removes unused generations and the files that killed processes have left. It ignores errors, because
// the next sweep tries again.
func (e *Environment) sweep() {
	s, err := e.state()
	if err != nil {
		return
	}
	entries, _ := os.ReadDir(e.dir)
	for _, entry := range entries {
		name := entry.Name()
		left := strings.HasPrefix(name, prefix) && name != s.Current && name != s.Previous
		if left || strings.HasPrefix(name, homePrefix) || strings.HasPrefix(name, draftPrefix) {
			_ = os.RemoveAll(filepath.Join(e.dir, name))
		}
	}
}

const draftPrefix = "draft-" // of temporary file names

// replace writes one of the environment's own files atomically.
func (e *Environment) replace(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return err
	}
	draft, err := os.CreateTemp(e.dir, draftPrefix+"*")
	if err != nil {
		return err
	}
	_, err = draft.Write(append(data, '\n'))
	err = errors.Join(err, draft.Sync(), draft.Close())
	if err == nil {
		err = os.Rename(draft.Name(), filepath.Join(e.dir, name))
	}
	if err != nil {
		_ = os.Remove(draft.Name())
	}
	return err
}
