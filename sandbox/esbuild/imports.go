package esbuild

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// module has the imports of a program, and its text without the import declarations, in
// which all other code keeps its position.
type module struct {
	body    string
	imports []imported
	faults  []fault
	deepest int

	properties string // the character properties that its patterns name
}

// imported is one name that a program imports, or a module that it imports for its side
// effects or with import().
type imported struct {
	want
	local string // "" if the import has no local name
	at    int    // offset of the module's name
}

// survey finds the imports of a program.
func survey(source string) *module {
	r := &reader{scanner: scanner{source: source}, module: &module{}, blanked: []byte(source), lacks: map[string]int{}}
	r.requires = strings.Contains(source, "require") && !ownRequire.MatchString(source)
	for t := r.next(); t.kind != atEnd; t = r.next() {
		r.deepest = max(r.deepest, r.depth())
		r.lack(t)
		if t.kind == word && !r.member() {
			r.keyword(t)
		}
		r.before = t
	}
	r.shims()
	r.body = string(r.blanked)
	return r.module
}

// reader finds the imports and exports of a program.
type reader struct {
	scanner
	*module
	before   token // the previous token
	blanked  []byte
	lacks    map[string]int // features that the engine lacks: offset of the first use, or -1 if declared
	requires bool           // whether the program may use require without declaring it
}

// member reports whether the token follows a dot.
func (r *reader) member() bool { return r.is(r.before, ".") || r.is(r.before, "?.") }

func (r *reader) keyword(t token) {
	switch {
	case r.is(t, "import"):
		here := r.scanner
		here.open = append([]bracket(nil), here.open...)
		if end, ok := r.declaration(t); ok {
			r.blank(t.start, end)
			return
		}
		r.scanner = here
	case r.is(t, "export") && r.depth() == 0:
		r.export(t)
	case r.is(t, "require") && r.requires:
		r.require(t)
	}
}

// ownRequire matches a program's own declaration of require.
var ownRequire = regexp.MustCompile(`\b(function|const|let|var)\s+require\b`)

// require reports a fault for require("…").
func (r *reader) require(t token) {
	here := r.scanner
	here.open = slices.Clone(here.open)
	opens, name := r.is(r.next(), "("), r.next()
	if opens && name.kind == text {
		r.fault(t.start, "require cannot be used here", "write import name from "+r.text(name))
	}
	r.scanner = here
}

// declaration reads the import declaration that begins with t, and returns its end. ok is
// false if there is none, as for import(), which declaration reads, too.
func (r *reader) declaration(t token) (end int, ok bool) {
	within := r.depth() > 0
	next := r.next()
	switch {
	case r.is(next, "("):
		r.call(t)
		return 0, false
	case within:
		return 0, false
	case next.kind == text:
		return r.finish(nil, next)
	}
	var names []imported
	if r.is(next, "type") { // import type X from …, or import type from …
		here := r.scanner
		second := r.next()
		if second.kind == word && !r.is(second, "from") || r.is(second, "{") || r.is(second, "*") {
			return r.types(second)
		}
		r.scanner = here
	}
	if next.kind == word {
		names = append(names, imported{want: want{Name: "default"}, local: r.text(next)})
		if next = r.next(); r.is(next, ",") {
			next = r.next()
		}
	}
	switch {
	case r.is(next, "*"):
		if !r.is(r.next(), "as") {
			return 0, false
		}
		local := r.next()
		if local.kind != word {
			return 0, false
		}
		names = append(names, imported{want: want{Name: "*"}, local: r.text(local)})
		next = r.next()
	case r.is(next, "{"):
		list, types, ok := r.named()
		if !ok {
			return 0, false
		}
		names = append(names, list...)
		if next = r.next(); names == nil && types && r.is(next, "from") {
			return r.types(next)
		}
		if names == nil { // import {} from "x" is equivalent to import "x"
			names = []imported{}
		}
	}
	if names == nil || !r.is(next, "from") {
		return 0, false
	}
	return r.finish(names, r.next())
}

// types reads the rest of an import of types, which begins with t.
func (r *reader) types(t token) (end int, ok bool) {
	for ; t.kind != atEnd && t.kind != text; t = r.next() {
		if r.is(t, "=") || r.is(t, ";") || r.is(t, "(") {
			return 0, false
		}
	}
	if t.kind != text {
		return 0, false
	}
	return r.ending(t), true
}

// named reads the names between braces. types reports whether some of them are types.
func (r *reader) named() (list []imported, types, ok bool) {
	for t := r.next(); !r.is(t, "}"); {
		var parts []token
		for ; t.kind == word || t.kind == text; t = r.next() {
			parts = append(parts, t)
		}
		one, ok := r.specifier(parts)
		if !ok || !r.is(t, ",") && !r.is(t, "}") {
			return nil, false, false
		}
		if one.local != "" {
			list = append(list, one)
		} else {
			types = true
		}
		if r.is(t, ",") {
			t = r.next()
		}
	}
	return list, types, true
}

// specifier reads a, a as b, or "a" as b. For type a and type a as b, it returns an empty
// import.
func (r *reader) specifier(parts []token) (imported, bool) {
	switch {
	case len(parts)%2 == 0 && len(parts) > 0 && r.is(parts[0], "type"):
		return imported{}, true
	case len(parts) == 1 && parts[0].kind == word:
		name := r.text(parts[0])
		return imported{want: want{Name: name}, local: name}, true
	case len(parts) == 3 && r.is(parts[1], "as") && parts[2].kind == word:
		name, ok := r.literal(parts[0])
		return imported{want: want{Name: name}, local: r.text(parts[2])}, ok
	}
	return imported{}, false
}

// finish reads the rest of a declaration, which begins with t, the name of the module.
func (r *reader) finish(names []imported, t token) (end int, ok bool) {
	name, ok := r.literal(t)
	if t.kind != text || !ok {
		return 0, false
	}
	if len(names) == 0 {
		names = []imported{{}}
	}
	for _, one := range names {
		one.Module, one.at = name, t.start
		r.imports = append(r.imports, one)
	}
	return r.ending(t), true
}

// ending returns the end of a declaration. t is the name of the module, which attributes
// and a semicolon may follow.
func (r *reader) ending(t token) int {
	end := t.end
	here := r.scanner
	next := r.next()
	if r.is(next, "with") || r.is(next, "assert") {
		if r.is(r.next(), "{") {
			for next = r.next(); next.kind != atEnd && !r.is(next, "}"); next = r.next() {
			}
			end = next.end
			here = r.scanner
			next = r.next()
		}
	}
	if r.is(next, ";") {
		return next.end
	}
	r.scanner = here
	return end
}

// call reads the argument of import(…).
func (r *reader) call(t token) {
	arg := r.next()
	name, ok := r.literal(arg)
	after := r.next()
	switch {
	case arg.kind == text && ok && (r.is(after, ")") || r.is(after, ",")):
		r.imports = append(r.imports, imported{want: want{Module: name, Dynamic: true}, at: arg.start})
	default:
		r.fault(t.start, "import() needs the name of a package as a string literal", `write import("name")`)
	}
}

// literal returns the content of a string literal, or a word unchanged.
func (r *reader) literal(t token) (string, bool) {
	s := r.text(t)
	if t.kind == word {
		return s, true
	}
	if t.kind != text || len(s) < 2 || s[0] != s[len(s)-1] || strings.Contains(s, `\`) || !utf8.ValidString(s) {
		return "", false
	}
	return s[1 : len(s)-1], true
}

// exported contains the words that begin a declaration. An export before them is ignored.
var exported = map[string]bool{
	"const": true, "let": true, "var": true, "function": true, "async": true, "class": true, "abstract": true,
	"enum": true, "interface": true, "type": true, "namespace": true, "declare": true,
}

// export removes the word export before a declaration, and export {}, because nothing
// can import a program. For other exports, it reports a fault.
func (r *reader) export(t token) {
	here := r.scanner
	next := r.next()
	empty := r.is(next, "{") && r.is(r.next(), "}")
	end := r.last.end
	if empty {
		r.blank(t.start, end)
		return
	}
	r.scanner = here
	r.open = nil
	if next.kind == word && exported[r.text(next)] {
		r.blank(t.start, t.end)
		return
	}
	r.fault(t.start, "a program cannot export anything",
		"remove export, and return the value or end with it as an expression")
}

func (r *reader) fault(at int, message, hint string) {
	pos := engine.At(r.source, at)
	r.faults = append(r.faults, fault{Message: message, Hint: hint, Line: pos.Line, Column: pos.Column})
}

// blank replaces the text from start to end with spaces, except for line ends. The spaces
// have as many bytes and columns as the text.
func (r *reader) blank(start, end int) {
	for start < end {
		c, size := utf8.DecodeRuneInString(r.source[start:end])
		if !strings.ContainsRune("\n\r\u2028\u2029", c) {
			copy(r.blanked[start:], blanks[size])
		}
		start += size
	}
}

// blanks maps the number of bytes of a character to spaces with as many bytes and columns.
// A character of four bytes has two columns.
var blanks = map[int]string{1: " ", 2: "\u00a0", 3: "\u3000", 4: "\u00a0\u00a0"}

// statement returns an import declaration for i. esbuild removes it if the program does
// not need the import.
func (i imported) statement(module string) string {
	name, _ := json.Marshal(module)
	switch {
	case i.local == "":
		return fmt.Sprintf("import %s;", name)
	case i.Name == "*":
		return fmt.Sprintf("import * as %s from %s;", i.local, name)
	case i.Name == "default":
		return fmt.Sprintf("import %s from %s;", i.local, name)
	}
	quoted, _ := json.Marshal(i.Name)
	return fmt.Sprintf("import {%s as %s} from %s;", quoted, i.local, name)
}
