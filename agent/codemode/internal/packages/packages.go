package packages

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/display"
)

// maxDescription is the maximum length, in bytes, of a package's description.
const maxDescription = 300

// Package describes one package.
type Package struct {
	Name        string `json:"name"`
	Installed   bool   `json:"installed"`
	Version     string `json:"version,omitempty"`
	Description string `json:"description,omitempty"` // the first 300 bytes
	Direct      bool   `json:"direct"`                // whether it was installed by name, not only as a dependency
	Importable  bool   `json:"importable"`            // whether programs may import it; see [Environment.Importable]
	Types       bool   `json:"types"`                 // whether it has TypeScript declarations
	Problem     string `json:"problem,omitempty"`     // why its package.json cannot be used
}

// manifest contains the fields of a package.json that this package reads. Fields of unexpected types are ignored.
type manifest struct {
	Name        any             `json:"name"`
	Version     any             `json:"version"`
	Description any             `json:"description"`
	Types       any             `json:"types"`
	Typings     any             `json:"typings"`
	Exports     json.RawMessage `json:"exports"`
}

// Installed describes the named packages, whether or not they are installed. Without names, it describes all packages
// that were installed by name, in alphabetical order. The error is a [*SpecError] for an invalid name, or an error
// about the environment's own files. A damaged package is not an error; its Problem describes the damage.
func (e *Environment) Installed(ctx context.Context, names ...string) ([]Package, error) {
	if err := checkNames(names); err != nil {
		return nil, err
	}
	root, err := e.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	direct, importable, err := e.names(root)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(direct))
	}
	found := make([]Package, len(names))
	for i, name := range names {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		found[i] = describe(root.FS(), name)
		found[i].Direct = found[i].Installed && direct[name]
		found[i].Importable = slices.Contains(importable, name)
	}
	return found, nil
}

// Importable returns the packages that programs may import. They were installed by name and not only as
// dependencies, are on the allow list, and are in [Settings].Imports unless Imports is empty.
func (e *Environment) Importable() ([]string, error) {
	root, err := e.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	_, importable, err := e.names(root)
	return importable, err
}

// names returns the package names in package.json, and the names of the packages that programs may import.
func (e *Environment) names(root *os.Root) (direct map[string]bool, importable []string, err error) {
	settings, err := e.Settings()
	if err != nil {
		return nil, nil, err
	}
	l, err := readListing(root.FS())
	if err != nil {
		return nil, nil, err
	}
	importable = []string{}
	for _, name := range slices.Sorted(maps.Keys(l.direct)) {
		if badName(name) != "" {
			delete(l.direct, name)
			continue
		}
		wanted := len(settings.Imports) == 0 || slices.Contains(settings.Imports, name)
		info, err := root.Lstat(modules + "/" + name)
		if err == nil && info.IsDir() && wanted && e.allow.has(name) {
			importable = append(importable, name)
		}
	}
	return l.direct, importable, nil
}

func describe(tree fs.FS, name string) Package {
	p := Package{Name: name}
	folder := modules + "/" + name
	data, err := readBounded(tree, folder+"/package.json", maxPackage)
	if errors.Is(err, fs.ErrNotExist) {
		return p
	}
	p.Installed = true
	var m manifest
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		p.Problem = fmt.Sprintf("its package.json cannot be read: %v", err)
		return p
	}
	if real := text(m.Name); real != name {
		p.Problem = fmt.Sprintf("the package that is installed under this name is called %q", clip(real))
	}
	p.Version, p.Description = clip(text(m.Version)), clip(text(m.Description))
	_, err = fs.Stat(tree, folder+"/index.d.ts")
	p.Types = err == nil || text(m.Types) != "" || text(m.Typings) != "" || bytes.Contains(m.Exports, []byte(`"types"`))
	return p
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// clip returns s as one line of bounded length.
func clip(s string) string {
	return display.Cut(strings.Join(strings.Fields(display.Text(s)), " "), maxDescription)
}
