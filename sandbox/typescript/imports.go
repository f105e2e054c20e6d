package typescript

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// imported is one name that a program imports, or a module that it imports for its side
// effects or with import().
type imported struct {
	want
	local string // "" if the import has no local name
	at    engine.Pos
}

// The patterns match esbuild's output, in which a string has single quotes only if it contains double quotes.
const (
	quoted     = `(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')`
	identifier = `[^\s{},*"']+`
)

var (
	// declaration matches import a, {b as c} from "x".
	declaration = regexp.MustCompile(`^import (?:(` + identifier + `)(?:, )?)?` +
		`(?:\* as (` + identifier + `)|\{((?:[^"'}]|` + quoted + `)*)\})?(?: from )?(` + quoted + `);`)
	specifier  = regexp.MustCompile(`(` + quoted + `|` + identifier + `)(?: as (` + identifier + `))?`)
	nameGoesOn = regexp.MustCompile(`^[\pL\pN_$]`)
	// importCall and requireCall match calls with a string literal.
	importCall  = regexp.MustCompile(`^import\((?:\s|` + comment + `)*(` + quoted + `)(?:\s|` + comment + `)*[,)]`)
	requireCall = regexp.MustCompile(`^require\((` + quoted + `)`)
	// ownRequire matches a program's own declaration of require.
	ownRequire = regexp.MustCompile(`\b(?:function|const|let|var)\s+require\b`)
	// exported matches the part of an export that scan removes: the word export, or a list that esbuild added.
	exported = regexp.MustCompile(`^export (?:\{[^"}]*\};)?`)
	// exportable matches the beginning of a declaration that may be exported.
	exportable = regexp.MustCompile(`^(?:export\s+)?(?:const|let|var|function|async|class|abstract|enum|namespace|` +
		`module|import|using|await|@)|^export\s*\{\s*\}`)
)

// scan finds the imports and exports in esbuild's output, and returns the output with spaces in their place. The source
// map shows whether a word is a keyword or part of a string. If scan misses a declaration, the sandbox's check rejects
// it.
func (p *translation) scan() string {
	source := []byte(p.code)
	for _, word := range []string{"import", "export", "require"} {
		for end := 0; ; {
			found := strings.Index(p.code[end:], word)
			if found < 0 {
				break
			}
			start := end + found
			end = start + len(word)
			if !member(p.code[:start]) {
				p.keyword(source[start:], start, word)
			}
		}
	}
	return string(source)
}

// member reports whether a word that follows code is a member name.
func member(code string) bool {
	return strings.HasSuffix(code, "#") || strings.HasSuffix(code, ".") && !strings.HasSuffix(code, "...")
}

// keyword handles the word at start in the code if the word is a keyword there.
func (p *translation) keyword(source []byte, start int, word string) {
	at, origin := p.origin(start)
	rest := p.code[start:]
	switch {
	case at == engine.Pos{}:
	case word == "export":
		if strings.HasPrefix(rest, "export ") && (start == 0 || p.code[start-1] == '\n') {
			p.export(source, rest, at, origin)
		}
	case !strings.HasPrefix(origin, word), nameGoesOn.MatchString(origin[len(word):]): // not a keyword in the program
	case word == "require":
		if m := requireCall.FindStringSubmatch(rest); m != nil && !ownRequire.MatchString(p.text) {
			p.fault(at, "require cannot be used here", "write import name from "+m[1])
		}
	case strings.HasPrefix(rest, "import("):
		if m := importCall.FindStringSubmatchIndex(rest); m != nil {
			p.add(start+m[2], rest[m[2]:m[3]], imported{want: want{Dynamic: true}})
			copy(source, p.load)
		} else {
			p.fault(at, "import() needs the name of a package as a string literal", `write import("name")`)
		}
	default:
		if m := declaration.FindStringSubmatchIndex(rest); m != nil {
			p.declared(start, m)
			copy(source, blank(rest[:m[1]]))
		}
	}
}

// export replaces the word export before a declaration, and the statement export {}, with spaces, because
// nothing can import a program. For other exports, it reports a fault.
func (p *translation) export(source []byte, rest string, at engine.Pos, origin string) {
	switch {
	case exportable.MatchString(origin):
		copy(source, blank(exported.FindString(rest)))
	case strings.HasPrefix(origin, "export"):
		p.fault(at, "a program cannot export anything",
			"remove export, and return the value or end with it as an expression")
	}
}

// declared adds the imports of the import declaration at start. m is the match of declaration.
func (p *translation) declared(start int, m []int) {
	group := func(n int) string {
		if m[2*n] < 0 {
			return ""
		}
		return p.code[start+m[2*n] : start+m[2*n+1]]
	}
	var list []imported
	if name := group(1); name != "" {
		list = append(list, imported{want: want{Name: "default"}, local: name})
	}
	if name := group(2); name != "" {
		list = append(list, imported{want: want{Name: "*"}, local: name})
	}
	for _, s := range specifier.FindAllStringSubmatch(group(3), -1) {
		list = append(list, imported{want: want{Name: unquoted(s[1])}, local: cmp.Or(s[2], s[1])})
	}
	if list == nil {
		list = []imported{{}}
	}
	p.add(start+m[8], group(4), list...)
}

// add adds imports of a module. offset is the position of the module's name in the code.
func (p *translation) add(offset int, module string, list ...imported) {
	at, _ := p.origin(offset)
	module = unquoted(module)
	if module == shimModule {
		p.fault(at, fmt.Sprintf("%q is not a package", module), "")
		return
	}
	for _, one := range list {
		one.Module, one.at = module, at
		p.imports = append(p.imports, one)
	}
}

// unquoted returns a string literal's value, or a name unchanged. It does not decode escapes that Go does not know,
// because no package has such a name.
func unquoted(s string) string {
	if strings.HasPrefix(s, "'") {
		s = `"` + strings.NewReplacer(`\'`, `'`, `"`, `\"`).Replace(s[1:len(s)-1]) + `"`
	}
	if value, err := strconv.Unquote(s); err == nil {
		return value
	}
	return strings.Trim(s, `"`)
}

// blank replaces all characters except line ends with spaces. The number of bytes stays the same.
func blank(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\n\r\u2028\u2029", r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Repeat(" ", utf8.RuneLen(r)))
		}
	}
	return b.String()
}

// required returns the imports without duplicates, in the same order for all programs with the
// same imports.
func (p *translation) required() []required {
	slices.SortStableFunc(p.imports, func(a, b imported) int { return a.compare(b.want) })
	var list []required
	for _, one := range p.imports {
		if n := len(list); n == 0 || list[n-1].want != one.want {
			list = append(list, required{one.want, max(one.at.Line, 1), max(one.at.Column, 1)})
		}
	}
	return list
}

func (w want) compare(other want) int {
	switch {
	case w.Dynamic == other.Dynamic:
		return cmp.Or(cmp.Compare(w.Module, other.Module), cmp.Compare(w.Name, other.Name))
	case w.Dynamic:
		return 1
	}
	return -1
}

// head returns declarations of the imported names and of the function that replaces import().
func (p *translation) head(list []required) string {
	var b strings.Builder
	for _, one := range p.imports {
		if one.local != "" {
			number := slices.IndexFunc(list, func(r required) bool { return r.want == one.want })
			fmt.Fprintf(&b, "const %s=%s.%s;", one.local, engine.PreludeName, exportOf(number))
		}
	}
	if slices.ContainsFunc(list, func(r required) bool { return r.Dynamic }) {
		fmt.Fprintf(&b, "const %s=%s.load;", p.load, engine.PreludeName)
	}
	return b.String()
}

// exportOf returns the name of a library's export for the import with this number.
func exportOf(number int) string { return "i" + strconv.Itoa(number) }
