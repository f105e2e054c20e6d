package typescript

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// shimSource implements globals and static methods that packages and programs use, and that the engine lacks or
// implements incorrectly. In a library, the required parts precede the bundle. Globals become constants that hide the
// engine's globals; static methods are added to the engine's globals. Each part begins with a line that has the part's
// name and the names of the parts that it needs.
//
//go:embed shim.js
var shimSource string

// patternSource is a RegExp that supports character properties. The engine's RegExp accepts
// such patterns, but they never match.
//
//go:embed pattern.js
var patternSource string

// shimModule is the module from which the compiler imports the shims that a program uses.
const shimModule = "writ:shim"

// patterns is the name of the shim for regular expressions.
const patterns = "RegExp"

// shim is one part of shimSource.
type shim struct {
	name   string
	needs  []string
	source string
	used   *regexp.Regexp // matches a use of the shim in a bundle
}

func (s shim) usedIn(bundle string) bool {
	return strings.Contains(bundle, s.name) && s.used.MatchString(bundle)
}

var shims = parseShims()

func parseShims() []shim {
	var list []shim
	for part := range strings.SplitSeq(strings.TrimPrefix(shimSource, "//! "), "\n//! ") {
		head, source, _ := strings.Cut(part, "\n")
		names := strings.Fields(head)
		list = append(list, shim{names[0], names[1:], source,
			regexp.MustCompile(`(^|[^\w$.])` + regexp.QuoteMeta(names[0]) + `([^\w$]|$)`)})
	}
	return list
}

// shimImports returns declarations that import the shims of the globals whose names a
// program contains.
func shimImports(program string) string {
	var b strings.Builder
	for _, s := range shims {
		if !strings.Contains(s.name, ".") && strings.Contains(program, s.name) {
			fmt.Fprintf(&b, "import {%s} from %q;", s.name, shimModule)
		}
	}
	return b.String()
}

// globalShims imports the shims of the globals that a program uses. To find them, it adds
// imports of all candidates to the program and lets esbuild remove the unused imports.
func (p *translation) globalShims(source string) {
	imports := shimImports(source)
	if imports == "" {
		return
	}
	result := through(imports + "\n" + source)
	for _, e := range result.Errors { // the imports make the program a module, which cannot return
		if e.Location != nil {
			e.Location.Line--
		}
	}
	if replaced := p.withoutReturns(result.Errors); replaced != p.text {
		result = through(imports + "\n" + replaced)
	}
	used := map[string]bool{} // the imports at the beginning that esbuild has kept
	for line := range strings.Lines(string(result.Code)) {
		if !strings.HasPrefix(line, "import ") {
			break
		}
		used[strings.TrimSpace(line)] = true
	}
	for _, s := range shims {
		if used[fmt.Sprintf("import { %s } from %q;", s.name, shimModule)] {
			p.imports = append(p.imports, imported{want: want{Module: shimModule, Name: s.name}, local: s.name})
		}
	}
}

// shims imports the shims for static methods and regular expressions that esbuild's output uses.
func (p *translation) shims() {
	for _, s := range shims {
		if strings.Contains(s.name, ".") && s.usedIn(p.code) {
			p.imports = append(p.imports, imported{want: want{Module: shimModule, Name: s.name}})
		}
	}
	code := strings.ReplaceAll(p.code, `\\`, `\`) // patterns may also be strings, with escaped backslashes
	if strings.Contains(code, patterns) && (propertyName.MatchString(code) || setFlag.MatchString(code)) {
		w := want{Module: shimModule, Name: patterns, Properties: strings.Join(append(properties(code), "L"), " ")}
		p.imports = append(p.imports, imported{want: w, local: patterns})
	}
}

// setFlag matches the flags of a call to RegExp if they include v.
var setFlag = regexp.MustCompile(`, "[dgimsuy]*v[dgimsuy]*"\)`)

// propertyName matches a character property in a pattern, or in a string that may become a
// pattern.
var propertyName = regexp.MustCompile(`\\([pP])\{([\w=]+)\}`)

// properties returns the character properties that source names, in the notation of [class].
func properties(source string) []string {
	var names []string
	for _, m := range propertyName.FindAllStringSubmatch(source, -1) {
		name := m[2]
		if m[1] == "P" {
			name = "^" + name
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// withShims returns the bundle, preceded by the shims that the bundle and the program need.
func withShims(wants []want, bundle string) string {
	needed := map[string]bool{}
	classes := properties(bundle)
	for _, w := range wants {
		if w.Module == shimModule {
			needed[w.Name] = true
			classes = append(classes, strings.Fields(w.Properties)...)
		}
	}
	for _, s := range shims {
		if needed[s.name] = needed[s.name] || s.usedIn(bundle); needed[s.name] {
			for _, other := range s.needs {
				needed[other] = true
			}
		}
	}
	var b strings.Builder
	if needed[patterns] || strings.Contains(bundle, "RegExp") {
		b.WriteString(patternShim(classes))
	}
	for _, s := range shims {
		if needed[s.name] {
			b.WriteString(s.source)
			b.WriteByte('\n')
		}
	}
	return b.String() + bundle
}

// patternShim returns the source of a RegExp that supports the named properties.
func patternShim(names []string) string {
	known := map[string]string{}
	for _, name := range names {
		if text, ok := class(name); ok {
			known[name] = text
		}
	}
	classes, _ := json.Marshal(known) // cannot fail
	return strings.Replace(patternSource, "CLASSES", string(classes), 1)
}
