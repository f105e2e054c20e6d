package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"
	"strings"
)

// manifest has the fields of a package.json that determine how its package is imported.
type manifest struct {
	dir string

	Main        string `json:"-"`
	Module      string `json:"-"`
	Browser     value
	Exports     value
	Imports     value
	SideEffects value
}

// parseManifest reads a package.json. Invalid fields are ignored.
func parseManifest(dir, text string) (*manifest, error) {
	var file struct {
		Main, Module, Browser, Exports, Imports, SideEffects value
	}
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		return nil, err
	}
	return &manifest{
		dir: dir, Main: file.Main.text, Module: file.Module.text, Browser: file.Browser,
		Exports: file.Exports, Imports: file.Imports, SideEffects: file.SideEffects,
	}, nil
}

// value is a JSON value whose members keep their order, because in exports the first condition that applies is used.
type value struct {
	kind    byte // '"' for a string, '[', '{', or 'f' for false; 0 for any other value
	text    string
	list    []value // elements, or member values
	members []string
}

// maxManifest is the maximum nesting depth of the values in a package.json.
const maxManifest = 32

// UnmarshalJSON implements [json.Unmarshaler].
func (v *value) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	return v.read(d, 0)
}

func (v *value) read(d *json.Decoder, depth int) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	if depth > maxManifest {
		return errors.New("it is nested too deeply")
	}
	switch t := t.(type) {
	case string:
		v.kind, v.text = '"', t
	case bool:
		if !t {
			v.kind = 'f'
		}
	case json.Delim:
		v.kind = byte(t)
		return v.elements(d, depth)
	}
	return nil
}

func (v *value) elements(d *json.Decoder, depth int) error {
	for d.More() {
		if v.kind == '{' {
			key, err := d.Token()
			if err != nil {
				return err
			}
			v.members = append(v.members, key.(string))
		}
		var element value
		if err := element.read(d, depth+1); err != nil {
			return err
		}
		v.list = append(v.list, element)
	}
	_, err := d.Token()
	return err
}

func (v value) member(name string) (value, bool) {
	for i, m := range v.members {
		if m == name {
			return v.list[i], true
		}
	}
	return value{}, false
}

// conditions returns the conditions that apply in exports and imports.
func conditions(require bool) map[string]bool {
	held := map[string]bool{"import": true, "module": true, "browser": true, "default": true}
	if require {
		delete(held, "import")
		held["require"] = true
	}
	return held
}

// exported returns the file to which exports maps a subpath such as "." or "./format".
func (m *manifest) exported(sub string, held map[string]bool) (file string, ok bool) {
	e := m.Exports
	if e.kind == '{' && len(e.members) > 0 && strings.HasPrefix(e.members[0], ".") {
		return m.mapped(e, sub, held)
	}
	if sub != "." {
		return "", false
	}
	return m.target(e, "", held)
}

// mapped looks up a name in exports or imports: first the name itself, then the matching
// pattern with the longest part before the *.
func (m *manifest) mapped(table value, name string, held map[string]bool) (file string, ok bool) {
	if v, found := table.member(name); found && !strings.Contains(name, "*") {
		return m.target(v, "", held)
	}
	best, filling, longest := value{}, "", -1
	for i, key := range table.members {
		before, after, pattern := strings.Cut(key, "*")
		if pattern && len(before) > longest && len(name) >= len(before)+len(after) &&
			strings.HasPrefix(name, before) && strings.HasSuffix(name, after) {
			best, filling, longest = table.list[i], name[len(before):len(name)-len(after)], len(before)
		}
	}
	return m.target(best, filling, held)
}

// target returns the file to which an entry of exports refers. An entry of imports may also refer to another package.
func (m *manifest) target(v value, filling string, held map[string]bool) (file string, ok bool) {
	switch v.kind {
	case '"':
		name := strings.ReplaceAll(v.text, "*", filling)
		if !strings.HasPrefix(name, "./") {
			return name, name != "" && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "/")
		}
		return m.inside(name)
	case '[':
		for _, element := range v.list {
			if file, ok = m.target(element, filling, held); ok {
				return file, true
			}
		}
	case '{':
		for i, condition := range v.members {
			if !held[condition] {
				continue
			}
			if file, ok = m.target(v.list[i], filling, held); ok {
				return file, true
			}
		}
	}
	return "", false
}

// inside returns the path of a file in the package. ok is false if the file is outside the package, or in a package
// that is nested in it.
func (m *manifest) inside(name string) (file string, ok bool) {
	file = path.Join(m.dir, name)
	return file, strings.HasPrefix(file, m.dir+"/") && !strings.Contains(file[len(m.dir):], "/node_modules/")
}

// mains returns the candidates for the main file of a package without exports.
func (m *manifest) mains() (files []string) {
	names := []string{m.Browser.text, m.Module, m.Main, "index"}
	for _, name := range names {
		if name == "" {
			continue
		}
		if other, replaced := m.instead("./" + path.Clean(name)); replaced && other != "" {
			name = other
		}
		if file, ok := m.inside("./" + name); ok {
			files = append(files, variants(file)...)
		}
	}
	return files
}

// instead returns the replacement that the browser field specifies for a file or package. The replacement "" is an
// empty module.
func (m *manifest) instead(name string) (other string, replaced bool) {
	for _, key := range []string{name, strings.TrimSuffix(name, ".js"), name + ".js"} {
		switch v, found := m.Browser.member(key); {
		case !found:
		case v.kind == 'f':
			return "", true
		case v.kind == '"':
			return v.text, true
		}
	}
	return "", false
}

// pure reports whether a file has no side effects, so that esbuild can leave it out if nothing in it is used.
func (m *manifest) pure(file string) bool {
	switch m.SideEffects.kind {
	case 'f':
		return true
	case '[':
		name := strings.TrimPrefix(file, m.dir+"/")
		for _, pattern := range m.SideEffects.list {
			if globbed(strings.TrimPrefix(pattern.text, "./"), name) {
				return false
			}
		}
		return true
	}
	return false
}

// globbed reports whether a pattern may match a name. It returns true for patterns that path.Match does not support.
func globbed(pattern, name string) bool {
	if strings.Contains(pattern, "**") || strings.ContainsAny(pattern, "{}!()") {
		return true
	}
	if !strings.Contains(pattern, "/") {
		name = path.Base(name)
	}
	matched, err := path.Match(pattern, name)
	return matched || err != nil
}
