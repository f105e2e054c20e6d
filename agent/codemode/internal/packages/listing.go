package packages

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

const (
	maxListing = 32 << 20 // bytes of a lock file
	maxPackage = 1 << 20  // bytes of a package.json
	block      = 4 << 10  // the unit in which disk space is counted
)

// listing describes the packages of an environment: the record that npm keeps in
// node_modules, and the dependencies in package.json.
type listing struct {
	packages map[string]lockedPackage // by path: node_modules/a/node_modules/b
	direct   map[string]bool          // the names of the dependencies in package.json
}

type lockedPackage struct {
	Version  string `json:"version"`
	Resolved string `json:"resolved"`
	Link     bool   `json:"link"`
	InBundle bool   `json:"inBundle"`

	Dependencies map[string]string `json:"dependencies"`
	Optional     map[string]string `json:"optionalDependencies"`
}

func (e *Environment) listing() (*listing, error) {
	root, err := e.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return readListing(root.FS())
}

func readListing(tree fs.FS) (*listing, error) {
	l := &listing{direct: map[string]bool{}}
	var lock struct {
		Packages map[string]lockedPackage `json:"packages"`
	}
	var project struct {
		Dependencies map[string]string `json:"dependencies"`
		Optional     map[string]string `json:"optionalDependencies"`
	}
	err := errors.Join(
		readJSON(tree, modules+"/"+record, maxListing, &lock),
		readJSON(tree, "package.json", maxPackage, &project),
	)
	if err != nil {
		return nil, fmt.Errorf("packages: reading an environment: %w", err)
	}
	l.packages = lock.Packages
	delete(l.packages, "") // the folder itself, if npm lists it
	for _, group := range []map[string]string{project.Dependencies, project.Optional} {
		for name := range group {
			l.direct[name] = true
		}
	}
	return l, nil
}

// readJSON decodes a file into v. If the file does not exist, v is unchanged.
func readJSON(tree fs.FS, name string, limit int64, v any) error {
	data, err := readBounded(tree, name, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// readBounded reads a regular file of at most limit bytes.
func readBounded(tree fs.FS, name string, limit int64) ([]byte, error) {
	info, err := fs.Stat(tree, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("it is longer than %d bytes", limit)
	}
	return data, err
}

// check returns an error if there are more than limit packages, or if one of them does not come from a registry.
func (l *listing) check(limit int) error {
	if n := len(l.packages); n > limit {
		return &LimitError{What: "packages", Limit: int64(limit), Got: int64(n)}
	}
	for _, where := range slices.Sorted(maps.Keys(l.packages)) { // sorted, so that the error is always the same
		p := l.packages[where]
		fetched := strings.HasPrefix(p.Resolved, "https://") || strings.HasPrefix(p.Resolved, "http://")
		if p.Link || !(fetched || p.InBundle) {
			return fmt.Errorf("%s does not come from a registry", where)
		}
		for _, group := range []map[string]string{p.Dependencies, p.Optional} {
			for _, name := range slices.Sorted(maps.Keys(group)) {
				version := group[name]
				if strings.ContainsAny(version, ":/") && !strings.HasPrefix(version, "npm:") {
					return fmt.Errorf("%s requires %s from a source other than a registry", where, name)
				}
			}
		}
	}
	return nil
}

func (l *listing) compare(after *listing) *Report {
	r := &Report{Added: []Change{}, Updated: []Change{}, Removed: []Change{}, Packages: len(after.packages)}
	for _, where := range slices.Sorted(maps.Keys(after.packages)) {
		p := after.packages[where]
		c := Change{Name: nameAt(where), Version: p.Version, Direct: after.isDirect(where)}
		switch old, had := l.packages[where]; {
		case !had:
			r.Added = append(r.Added, c)
		case old.Version != p.Version:
			c.Previous = old.Version
			r.Updated = append(r.Updated, c)
		}
	}
	for _, where := range slices.Sorted(maps.Keys(l.packages)) {
		p := l.packages[where]
		if _, has := after.packages[where]; !has {
			r.Removed = append(r.Removed, Change{Name: nameAt(where), Version: p.Version, Direct: l.isDirect(where)})
		}
	}
	for _, changes := range [][]Change{r.Added, r.Updated, r.Removed} {
		slices.SortStableFunc(changes, func(a, b Change) int {
			return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
		})
	}
	return r
}

// nameAt returns the package name at a path such as node_modules/a/node_modules/@b/c.
func nameAt(where string) string {
	if i := strings.LastIndex("/"+where, "/"+modules+"/"); i >= 0 {
		return where[i+len(modules)+1:]
	}
	return where
}

func (l *listing) isDirect(where string) bool {
	name := nameAt(where)
	return l.direct[name] && where == path.Join(modules, name)
}

// measure returns the disk space that the packages use. It returns a [LimitError] as soon as the space exceeds limit,
// and an error for anything other than regular files, folders, and links to files or folders in node_modules.
func measure(root *os.Root, limit int64) (int64, error) {
	sub, err := root.OpenRoot(modules)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer sub.Close()
	var total int64
	err = fs.WalkDir(sub.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		size, err := room(sub, name, entry)
		if err != nil {
			return err
		}
		if total += size; total > limit {
			return &LimitError{What: "bytes", Limit: limit, Got: total}
		}
		return nil
	})
	return total, err
}

func room(root *os.Root, name string, entry fs.DirEntry) (int64, error) {
	switch {
	case entry.IsDir():
		return block, nil
	case entry.Type()&fs.ModeSymlink != 0:
		if _, err := root.Stat(name); err != nil {
			return 0, fmt.Errorf("the link %s points outside node_modules or to a missing file", name)
		}
		return block, nil
	case !entry.Type().IsRegular():
		return 0, fmt.Errorf("%s is neither a file nor a folder", name)
	}
	info, err := entry.Info()
	if err != nil {
		return 0, err
	}
	return (info.Size() + block - 1) / block * block, nil
}
