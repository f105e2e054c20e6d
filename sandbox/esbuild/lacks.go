package esbuild

import (
	"regexp"
	"slices"
	"strings"
)

// static matches a property of one of three globals, such as Promise.try.
var static = regexp.MustCompile(`^(Promise|Array|Symbol)\s*\.\s*(\w+)`)

// lack records the feature that t uses if the engine lacks it.
func (r *reader) lack(t token) {
	name := ""
	switch {
	case t.kind == pattern:
		if literal := r.text(t); propertyName.MatchString(literal) ||
			strings.Contains(literal[strings.LastIndexByte(literal, '/')+1:], "v") {
			name = patterns
		}
	case t.kind != word || r.member():
	default:
		name = r.text(t)
		if m := static.FindStringSubmatch(r.source[t.start:]); m != nil {
			name = m[1] + "." + m[2]
		}
		if name == patterns && !propertyName.MatchString(unescaped(r.source)) {
			return
		}
	}
	if _, known := r.lacks[name]; known || !shimName(name) {
		return
	}
	r.lacks[name] = t.start
	if r.before.kind == word && declares[r.text(r.before)] {
		r.lacks[name] = -1
	}
}

// unescaped removes the escapes of backslashes, so that patterns in string literals look like
// pattern literals.
func unescaped(text string) string { return strings.ReplaceAll(text, `\\`, `\`) }

var declares = map[string]bool{"const": true, "let": true, "var": true, "function": true, "class": true}

// shims imports the shims of the features that the program uses and the engine lacks.
func (r *reader) shims() {
	for name, at := range r.lacks {
		if at < 0 || slices.ContainsFunc(r.imports, func(i imported) bool { return i.local == name }) {
			continue
		}
		one := imported{want: want{Module: shimModule, Name: name}, local: name, at: at}
		if strings.Contains(name, ".") {
			one.local = ""
		}
		if name == patterns {
			one.Properties = strings.Join(append(properties(unescaped(r.source)), "L"), " ")
			r.properties = one.Properties
		}
		r.imports = append(r.imports, one)
	}
	slices.SortStableFunc(r.imports, func(a, b imported) int { return a.at - b.at })
}
