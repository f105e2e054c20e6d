// Package imports finds the npm packages that programs import, for the bundler of sandbox/typescript. Packages are
// resolved as for browsers: by the exports field of package.json, with the conditions import or require, module,
// browser and default, or else by the browser, module and main fields. The modules of Node.js are not available.
//
// The resolver runs in the bundler's worker, because it parses files of untrusted packages. The host process reads the
// files for it: only regular files in a package that programs may import, or in its dependencies.
package imports

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/bundling"
)

func init() {
	bundling.NewResolver = func(f bundling.Files) bundling.Resolver { return newResolver(f) }
}

// maxImportFiles and maxImportBytes limit the files that one program may import.
const (
	maxImportFiles = 4000
	maxImportBytes = 32 << 20
)

// Packages are the packages that programs may import, for [github.com/writ-go/writ/sandbox/typescript.Compiler.With].
type Packages struct {
	root     fs.FS
	allow    []string
	why      func(name string) (message, hint string)
	maxFiles int
}

// New returns the packages in root whose names are in allow; root is the content of a node_modules folder. They may
// import the dependencies that their package.json lists. Only regular files in root are read. Symbolic links are not
// followed if root reports them, as [os.DirFS] and [os.Root.FS] do. Package scripts do not run.
//
// If a program imports a package that is not allowed or not installed, why returns the finding's message and hint. If
// why is nil or the message is empty, the default finding is used; if only the hint is empty, the hint lists the
// available packages. The function why may be called concurrently, and is not called for the modules of Node.js.
func New(root fs.FS, allow []string, why func(name string) (message, hint string)) *Packages {
	allow = slices.Compact(slices.Sorted(slices.Values(allow)))
	return &Packages{root: root, allow: allow, why: why, maxFiles: maxImportFiles}
}

// Snapshot implements [bundling.Packages].
func (p *Packages) Snapshot() bundling.Snapshot {
	return newSnapshot(p.root, p.allow, p.maxFiles, maxImportBytes)
}

// Refusal implements [bundling.Packages].
func (p *Packages) Refusal(module string) (message, hint string) {
	name, _ := split(module)
	if slices.Contains(p.allow, name) && p.installed(name) {
		return "", ""
	}
	if p.why != nil && name != "" && !builtin(module) {
		if message, hint = p.why(name); message != "" {
			return message, cmp.Or(hint, p.available())
		}
	}
	switch {
	case slices.Contains(p.allow, name):
		return fmt.Sprintf("the package %q is not installed", name), p.available()
	case builtin(module):
		return fmt.Sprintf("the Node module %q is not available",
			module), "there is no file system, network or process; use the declared tools"
	case name == "":
		return fmt.Sprintf("%.100q is not a package, and only packages can be imported", module), p.available()
	}
	return fmt.Sprintf("the package %q may not be imported", name), p.available()
}

// available returns a hint that lists the packages that can be imported.
func (p *Packages) available() string {
	names := p.Names()
	switch {
	case len(names) == 0:
		return "no packages are available; the declared tools are globals"
	case len(names) > maxListed:
		names = append(names[:maxListed], "…")
	}
	return "available: " + strings.Join(names, ", ")
}

// Names implements [bundling.Packages].
func (p *Packages) Names() []string {
	var names []string
	for _, name := range p.allow {
		if p.installed(name) {
			names = append(names, name)
		}
	}
	return names
}

// maxListed is the maximum number of packages that a hint names.
const maxListed = 30

func (p *Packages) installed(name string) bool {
	if !packageName(name) {
		return false
	}
	info, err := fs.Lstat(p.root, name+"/package.json")
	return err == nil && info.Mode().IsRegular()
}
