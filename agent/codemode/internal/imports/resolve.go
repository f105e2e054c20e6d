package imports

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/writ-go/writ/internal/bundling"
)

// resolver finds the file that an import refers to, as Node.js and bundlers do. It is not safe for concurrent use.
type resolver struct {
	files     bundling.Files
	manifests map[string]*manifest // by directory
	texts     map[string]string    // the contents of files that were found, by path
}

func newResolver(f bundling.Files) *resolver {
	return &resolver{files: f, manifests: map[string]*manifest{}, texts: map[string]string{}}
}

// Resolve implements [bundling.Resolver].
func (r *resolver) Resolve(importer, module string, require bool) (bundling.Module, error) {
	found, err := r.resolve(importer, module, require)
	var missing *missingError
	if errors.As(err, &missing) && importer != "" { // not an error: the package may never use the module
		return bundling.Module{Absent: absence(module, importer, missing)}, nil
	}
	return found, err
}

// absence returns the message about a missing module that a package imports.
func absence(module, importer string, missing *missingError) string {
	why := missing.why
	if builtin(module) {
		why = fmt.Sprintf("the Node module %q is not available", module)
	}
	return fmt.Sprintf("%s: %s", strings.TrimPrefix(importer, "node_modules/"), why)
}

// Text implements [bundling.Resolver].
func (r *resolver) Text(path string) (text string, ok bool) {
	text, ok = r.texts[path]
	return text, ok
}

// Owns implements [bundling.Resolver].
func (r *resolver) Owns(module, file string) bool {
	name, _ := split(module)
	return strings.Contains(file, "node_modules/"+name+"/")
}

// missingError is the error for a module that does not exist.
type missingError struct{ module, why string }

func (e *missingError) Error() string { return e.why }

func missing(module, format string, args ...any) error {
	return &missingError{module, fmt.Sprintf(format, args...)}
}

// variants returns the files that a path may refer to: the path itself, with an extension, or an index file.
func variants(file string) []string {
	list := []string{file}
	for _, stem := range []string{file, file + "/index"} {
		for _, ending := range []string{".js", ".mjs", ".cjs", ".json"} {
			list = append(list, stem+ending)
		}
	}
	return list
}

// resolve finds a module that the file importer imports. The importer "" is the program.
func (r *resolver) resolve(importer, module string, require bool) (bundling.Module, error) {
	owner, err := r.owner(importer)
	if err != nil {
		return bundling.Module{}, err
	}
	relative := strings.HasPrefix(module, "./") || strings.HasPrefix(module, "../") || module == "." || module == ".."
	switch {
	case relative && owner == nil, strings.HasPrefix(module, "/"):
		return bundling.Module{}, missing(module, "%q is not a package", module)
	case relative:
		return r.within(owner, importer, path.Join(path.Dir(importer), module))
	case strings.HasPrefix(module, "#") && owner != nil:
		target, ok := owner.mapped(owner.Imports, module, conditions(require))
		if !ok {
			return bundling.Module{}, missing(module, "its package.json has no import %q", module)
		}
		if strings.HasPrefix(target, owner.dir+"/") {
			return r.open(owner, []string{target}, module)
		}
		module = target
	}
	if owner != nil {
		switch other, replaced := owner.instead(module); {
		case replaced && other == "":
			return bundling.Module{Empty: true}, nil
		case replaced && strings.HasPrefix(other, "./"):
			return r.within(owner, importer, path.Join(owner.dir, other))
		case replaced:
			module = other
		}
	}
	return r.bare(importer, module, require)
}

// within finds a file in the package owner.
func (r *resolver) within(owner *manifest, importer, file string) (bundling.Module, error) {
	if !strings.HasPrefix(file, owner.dir+"/") {
		return bundling.Module{}, missing(file, "%s imports a file outside its package", importer)
	}
	switch other, replaced := owner.instead("./" + strings.TrimPrefix(file, owner.dir+"/")); {
	case replaced && other == "":
		return bundling.Module{Empty: true}, nil
	case replaced:
		if inside, ok := owner.inside(other); ok {
			file = inside
		}
	}
	return r.open(owner, variants(file), file)
}

// bare finds a package, or a file in it, by the package's name.
func (r *resolver) bare(importer, module string, require bool) (bundling.Module, error) {
	name, sub := split(module)
	if name == "" {
		return bundling.Module{}, missing(module, "%q is not a package", module)
	}
	m, err := r.find(importer, name)
	switch {
	case err != nil:
		return bundling.Module{}, err
	case m == nil:
		return bundling.Module{}, missing(module, "the package %q is not installed", name)
	case m.Exports.kind != 0:
		file, ok := m.exported("."+sub, conditions(require))
		if !ok || !strings.HasPrefix(file, m.dir+"/") {
			return bundling.Module{}, missing(module, "the package %q has no module %q", name, module)
		}
		return r.open(m, []string{file}, module)
	case sub == "":
		return r.open(m, m.mains(), module)
	}
	file, ok := m.inside("." + sub)
	if !ok {
		return bundling.Module{}, missing(module, "the package %q has no module %q", name, module)
	}
	return r.within(m, importer, file)
}

// split splits a module's name into its package's name and the rest, which is empty or begins with a slash. Both are
// empty if the package name is invalid.
func split(module string) (name, sub string) {
	parts := strings.SplitN(module, "/", 3)
	n := 1
	if strings.HasPrefix(module, "@") {
		n = 2
	}
	if len(parts) < n {
		return "", ""
	}
	name = strings.Join(parts[:n], "/")
	if !packageName(name) {
		return "", ""
	}
	return name, module[len(name):]
}

// plainName matches package names. As a path, such a name does not leave node_modules.
var plainName = regexp.MustCompile(`^(?:@[\w$~-][\w$.~-]*/)?[\w$~-][\w$.~-]*$`)

// packageName reports whether name is a valid package name.
func packageName(name string) bool {
	return len(name) < 215 && plainName.MatchString(name) && path.Base(name) != "node_modules"
}

// find returns the manifest of a package that importer imports, or nil if the package is not installed.
func (r *resolver) find(importer, name string) (*manifest, error) {
	var paths []string
	for dir := path.Dir(importer); importer != "" && dir != "."; dir = path.Dir(dir) {
		if path.Base(dir) != "node_modules" {
			paths = append(paths, path.Join(dir, "node_modules", name, "package.json"))
		}
	}
	paths = append(paths, path.Join("node_modules", name, "package.json"))
	f, err := r.files.First(paths)
	if err != nil || f.Path == "" {
		return nil, err
	}
	dir := path.Dir(f.Path)
	if m := r.manifests[dir]; m != nil {
		return m, nil
	}
	m, err := parseManifest(dir, f.Text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	r.manifests[dir] = m
	return m, nil
}

// owner returns the manifest of the package to which a file belongs. The manifest was read when
// the file was found. For the program, owner returns nil.
func (r *resolver) owner(file string) (*manifest, error) {
	if file == "" {
		return nil, nil
	}
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if m := r.manifests[dir]; m != nil {
			return m, nil
		}
	}
	return nil, fmt.Errorf("%s does not belong to a package", file)
}

// open reads the first of the paths that is a file.
func (r *resolver) open(m *manifest, paths []string, module string) (bundling.Module, error) {
	for _, p := range paths {
		if _, known := r.texts[p]; known {
			return bundling.Module{Path: p, Pure: m.pure(p)}, nil
		}
	}
	f, err := r.files.First(paths)
	switch {
	case err != nil:
		return bundling.Module{}, err
	case f.Path == "":
		return bundling.Module{}, missing(module, "no file was found for %q", module)
	}
	r.texts[f.Path] = f.Text
	return bundling.Module{Path: f.Path, Pure: m.pure(f.Path)}, nil
}
