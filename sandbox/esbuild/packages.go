package esbuild

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/writ-go/writ/sandbox"
)

// packages compiles programs that may import the packages in allow.
type packages struct {
	bundler *Bundler
	root    fs.FS
	allow   []string
	why     func(name string) (message, hint string) // may be nil

	mu        sync.Mutex
	libraries []library // the most recently used one is last
}

// library is the cached bundle of some imports. stamps shows whether it is still current.
type library struct {
	key    string
	text   string
	stamps map[string]stamp
}

func newPackages(b *Bundler, root fs.FS, allow []string, why func(name string) (message, hint string)) *packages {
	if root == nil {
		root = embed.FS{}
	}
	allow = slices.Compact(slices.Sorted(slices.Values(allow)))
	return &packages{bundler: b, root: root, allow: allow, why: why}
}

// Ready returns the result of [Bundler.Ready].
func (p *packages) Ready() error { return p.bundler.Ready() }

// Compile implements [sandbox.Compiler]. Its errors are those of [Bundler.Compile].
func (p *packages) Compile(ctx context.Context, source string) (*sandbox.Compiled, error) {
	if p.bundler == nil || p.bundler.pool == nil {
		return nil, errNotMade
	}
	var t transformed
	findings, err := p.bundler.run(ctx, task{Program: source}, newShelf(embed.FS{}, nil, 0, 0), &t)
	if err == nil && findings == nil {
		findings = findingsOf(t.Faults)
	}
	if err == nil && findings == nil {
		findings = p.refused(t.Imports)
	}
	if err != nil || findings != nil {
		return &sandbox.Compiled{Findings: findings, Imports: importsOf(t.Imports)}, err
	}
	c := &sandbox.Compiled{Source: t.Source, Map: []byte(t.Map), Imports: importsOf(t.Imports)}
	if len(t.Imports) > 0 {
		c.Library, c.Findings, err = p.library(ctx, t.Imports)
	}
	return c, err
}

// importsOf returns the modules that a program imports. The result is never nil.
func importsOf(list []required) []sandbox.Import {
	imports := []sandbox.Import{}
	for _, i := range list {
		if i.Module != shimModule {
			imports = append(imports, sandbox.Import{Module: i.Module, Line: i.Line, Column: i.Column})
		}
	}
	return imports
}

func findingsOf(faults []fault) []sandbox.Finding {
	var list []sandbox.Finding
	for _, f := range faults {
		list = append(list, sandbox.Finding{Kind: sandbox.KindSyntax, Message: f.Message, Hint: f.Hint, Line: f.Line,
			Column: f.Column})
	}
	return list
}

// KindUnresolved is the kind of a finding about an import that cannot be resolved.
const KindUnresolved sandbox.Kind = "unresolved"

// refused returns a finding for each import that is not allowed or not installed.
func (p *packages) refused(imports []required) []sandbox.Finding {
	var list []sandbox.Finding
	for _, i := range imports {
		if message, hint := p.refusal(i.Module); message != "" {
			list = append(list, unresolved(i, message, hint))
		}
	}
	return list
}

func unresolved(i required, message, hint string) sandbox.Finding {
	return sandbox.Finding{Kind: KindUnresolved, Message: message, Hint: hint, Line: i.Line, Column: i.Column}
}

// refusal returns the reason why a module cannot be imported, and a hint. The message is "" if
// the module can be imported.
func (p *packages) refusal(module string) (message, hint string) {
	if module == shimModule {
		return "", ""
	}
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

// available returns a hint that says what can be imported.
func (p *packages) available() string {
	names := p.present()
	switch {
	case len(names) == 0:
		return "no packages are available; the declared tools are globals"
	case len(names) > maxListed:
		names = append(names[:maxListed], "…")
	}
	return "available: " + strings.Join(names, ", ")
}

// present returns the packages that can be imported.
func (p *packages) present() []string {
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

func (p *packages) installed(name string) bool {
	if !packageName(name) {
		return false
	}
	info, err := fs.Lstat(p.root, "node_modules/"+name+"/package.json")
	return err == nil && info.Mode().IsRegular()
}

// library returns the bundle of some imports, from the cache if possible.
func (p *packages) library(ctx context.Context, imports []required) (string, []sandbox.Finding, error) {
	wants := make([]want, len(imports))
	for i, r := range imports {
		wants[i] = r.want
	}
	text, _ := json.Marshal(wants) // it can't fail
	key := string(text)
	if known := p.known(key); known != "" {
		return known, nil, nil
	}
	var b bundled
	s := newShelf(p.root, p.allow, p.bundler.options.Files, p.bundler.options.Bytes)
	findings, err := p.bundler.run(ctx, task{Bundle: wants}, s, &b)
	if err != nil || findings != nil {
		return "", findings, err
	}
	for _, f := range b.Faults {
		i := imports[min(max(f.Want, 1), len(imports))-1]
		findings = append(findings, unresolved(i, f.Message, f.Hint))
	}
	if findings == nil {
		p.keep(library{key, b.Library, s.stamps})
	}
	return b.Library, findings, nil
}

// known returns the cached library of a key, or "" if there is none or its packages have
// changed.
func (p *packages) known(key string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.libraries, func(l library) bool { return l.key == key })
	if i < 0 {
		return ""
	}
	l := p.libraries[i]
	p.libraries = slices.Delete(p.libraries, i, i+1)
	for name, then := range l.stamps {
		if stampOf(p.root, name) != then {
			return ""
		}
	}
	p.libraries = append(p.libraries, l)
	return l.text
}

// keptLibraries is the maximum total size of the cached libraries, in bytes.
const keptLibraries = 32 << 20

func (p *packages) keep(l library) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.libraries = slices.DeleteFunc(p.libraries, func(old library) bool { return old.key == l.key })
	p.libraries = append(p.libraries, l)
	size := 0
	for i, l := range slices.Backward(p.libraries) {
		if size += len(l.text); size > keptLibraries || len(p.libraries)-i > p.bundler.options.Libraries {
			p.libraries = slices.Delete(p.libraries, 0, i+1)
			return
		}
	}
}
