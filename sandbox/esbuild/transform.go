package esbuild

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/sourcemap"
)

// transformed is a program in JavaScript, or the faults of the TypeScript program.
type transformed struct {
	Source  string     `json:"source"`
	Map     string     `json:"map"`
	Imports []required `json:"imports,omitempty"`
	Faults  []fault    `json:"faults,omitempty"`
}

// required is an import that the program uses.
type required struct {
	want
	Line   int `json:"line"`
	Column int `json:"column"`
}

// maxDepth bounds the nesting of brackets, because esbuild's parser is recursive.
const maxDepth = 2000

// maxFaults bounds the number of findings.
const maxFaults = 20

// transform translates a program to JavaScript.
//
// It passes esbuild a module that begins with one line of import declarations, each for
// one name. esbuild removes those that only types use. If the program returns at top
// level, which a module cannot do, it becomes the body of a function.
func transform(program string) *transformed {
	if strings.HasPrefix(program, "#!") {
		program = "//" + program[2:]
	}
	m := survey(program)
	switch {
	case strings.HasPrefix(strings.TrimSpace(program), "```"):
		m.faults = append(m.faults, faultAt(program, strings.Index(program, "`"), "the program is in a code fence",
			"leave out the lines with ```"))
	case m.deepest > maxDepth:
		m.faults = append(m.faults, fault{Message: fmt.Sprintf("brackets are nested deeper than %d levels", maxDepth),
			Hint: "write a simpler program"})
	}
	if len(m.faults) > 0 {
		return &transformed{Faults: m.faults[:min(len(m.faults), maxFaults)]}
	}
	p := &passage{module: m, program: program, mark: markOf(program)}
	code := p.through("", "")
	if returnsAtTop(code.Errors) {
		p.wrapped = true
		code = p.through("(async()=>{", "\n})();")
	}
	if len(code.Errors) > 0 {
		return &transformed{Faults: p.faultsOf(code.Errors)}
	}
	return p.finish(code)
}

// passage is the translation of one program.
type passage struct {
	*module
	program string
	mark    string // prefix of the module names that esbuild sees; the program does not contain it
	wrapped bool
	heads   []int // the offsets of the import declarations in the first line
}

// markOf returns a mark that is a hash of the program, so that the program cannot
// contain it.
func markOf(program string) string {
	sum := sha256.Sum256([]byte(program))
	return fmt.Sprintf("writ:%x:", sum[:12])
}

// lacking has the features of ES2022 and later that goja does not support.
var lacking = map[string]bool{
	"async-generator": false, "for-await": false, "dynamic-import": false, "using": false, "decorators": false,
}

// unicodePatterns is esbuild's name for regular expression literals with the u or y flag.
// esbuild turns them into calls to RegExp if the feature is not supported.
const unicodePatterns = "regexp-sticky-and-unicode-flags"

// supports returns the language features of the engine for this program.
func (p *passage) supports() map[string]bool {
	if p.properties == "" {
		return lacking
	}
	supported := maps.Clone(lacking)
	supported[unicodePatterns] = false
	return supported
}

// through runs esbuild on the program.
func (p *passage) through(prologue, epilogue string) api.TransformResult {
	var head strings.Builder
	p.heads = nil
	for i, one := range p.imports {
		if !one.Dynamic && !one.foreseen() {
			p.heads = append(p.heads, head.Len())
			head.WriteString(one.statement(p.mark + strconv.Itoa(i)))
		}
	}
	head.WriteString(prologue)
	return api.Transform(head.String()+"\n"+p.body+epilogue, api.TransformOptions{
		Loader: api.LoaderTS, Target: api.ES2022, Supported: p.supports(), Charset: api.CharsetUTF8,
		Platform:  api.PlatformNeutral,
		Sourcemap: api.SourceMapExternal, SourcesContent: api.SourcesContentExclude, LegalComments: api.LegalCommentsNone,
		TsconfigRaw: "{}", LogLevel: api.LogLevelSilent, LogLimit: maxFaults,
	})
}

func returnsAtTop(errs []api.Message) bool {
	for _, e := range errs {
		if strings.HasPrefix(e.Text, "Top-level return cannot be used") {
			return true
		}
	}
	return false
}

// finish replaces the imports by constants and removes the function.
func (p *passage) finish(code api.TransformResult) *transformed {
	m, err := sourcemap.Parse(code.Map)
	if err != nil {
		return &transformed{Faults: []fault{{Message: err.Error()}}}
	}
	m.Shift(-1)
	t := &transformed{}
	lines := strings.Split(string(code.Code), "\n")
	if p.wrapped {
		unwrap(lines)
	}
	used := p.declared(lines)
	t.Imports = p.required(used)
	for line, one := range used {
		lines[line] = one.constant(t.Imports)
	}
	if head := p.head(t.Imports); head != "" {
		m.Push(1)
		lines = slices.Insert(lines, 0, head)
	}
	t.Source, t.Map = strings.Join(lines, "\n"), string(m.JSON())
	return t
}

// declared returns the imports that esbuild kept, by the line of their declaration, with
// the local names that esbuild uses.
func (p *passage) declared(lines []string) map[int]imported {
	mine := regexp.MustCompile(`^import (?:(.*) from )?"` + p.mark + `(\d+)";$`)
	used := map[int]imported{}
	for i, line := range lines {
		if found := mine.FindStringSubmatch(line); found != nil {
			number, _ := strconv.Atoi(found[2])
			one := p.imports[number]
			one.local = ""
			if name := local.FindStringSubmatch(found[1]); name != nil {
				one.local = name[1]
			}
			used[i] = one
		}
	}
	return used
}

// required returns the imports that are needed, in the same order for all programs with the
// same imports.
func (p *passage) required(used map[int]imported) []required {
	all := slices.Collect(maps.Values(used))
	for _, one := range p.imports {
		if one.Dynamic || one.foreseen() {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b imported) int { return cmp.Or(a.compare(b.want), cmp.Compare(a.at, b.at)) })
	var list []required
	for _, one := range all {
		if n := len(list); n == 0 || list[n-1].want != one.want {
			at := engine.At(p.program, one.at)
			list = append(list, required{one.want, at.Line, at.Column})
		}
	}
	return list
}

func (w want) compare(other want) int {
	switch {
	case w.Dynamic == other.Dynamic:
		return cmp.Or(cmp.Compare(w.Module, other.Module), cmp.Compare(w.Name, other.Name),
			cmp.Compare(w.Properties, other.Properties))
	case w.Dynamic:
		return 1
	}
	return -1
}

// head returns declarations of the functions that esbuild's output calls for import() and
// for patterns. esbuild does not declare them.
func (p *passage) head(list []required) (line string) {
	if slices.ContainsFunc(list, func(r required) bool { return r.Dynamic }) {
		line = "const require=" + engine.PreludeName + ".require;"
	}
	for _, one := range p.imports {
		if one.foreseen() {
			line += one.constant(list)
		}
	}
	return line
}

// foreseen reports whether the output of esbuild needs the import i, although the input of
// esbuild does not.
func (i imported) foreseen() bool { return i.Module == shimModule && i.Name == patterns }

// unwrap clears the lines that wrap the program in a function.
func unwrap(lines []string) {
	for i, line := range lines {
		if line == "(async () => {" {
			lines[i] = ""
			break
		}
	}
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i] == "})();" {
			lines[i] = ""
			break
		}
	}
}

// local matches the local name in an import declaration, which is the last word before from.
var local = regexp.MustCompile(`([^\s{}]+)[\s}]*$`)

// constant returns the declaration that replaces an import declaration.
func (i imported) constant(list []required) string {
	if i.local == "" {
		return "" // imported only for its side effects
	}
	number := slices.IndexFunc(list, func(r required) bool { return r.want == i.want })
	return fmt.Sprintf("const %s=%s.%s;", i.local, engine.PreludeName, exportOf(number))
}

// exportOf returns the name of a library's export for the import with this number.
func exportOf(number int) string { return "i" + strconv.Itoa(number) }

func faultAt(program string, offset int, message, hint string) fault {
	at := engine.At(program, offset)
	return fault{Message: message, Hint: hint, Line: at.Line, Column: at.Column}
}

// faultsOf converts the errors of esbuild.
func (p *passage) faultsOf(errs []api.Message) []fault {
	var list []fault
	for _, e := range errs[:min(len(errs), maxFaults)] {
		f := fault{Message: lower(e.Text)}
		if e.Location != nil {
			at := p.place(e.Location.Line, e.Location.Column)
			f.Line, f.Column = at.Line, at.Column
		}
		list = append(list, f)
	}
	return list
}

// lower makes the first letter of a message lowercase if the second letter is.
func lower(text string) string {
	if len(text) > 1 && 'a' <= text[1] && text[1] <= 'z' {
		return strings.ToLower(text[:1]) + text[1:]
	}
	return text
}

// place converts a position that esbuild reports, which counts bytes and includes the line of
// imports, to a position in the program.
func (p *passage) place(line, column int) engine.Pos {
	if line == 1 {
		for i := len(p.heads) - 1; i >= 0; i-- {
			if column >= p.heads[i] {
				return engine.At(p.program, p.static(i).at)
			}
		}
		return engine.Pos{Line: 1, Column: 1}
	}
	if last := engine.At(p.program, len(p.program)); line-1 > last.Line {
		return last
	}
	before := engine.Line(p.program, line-1)
	before = before[:min(column, len(before))]
	return engine.Pos{Line: line - 1, Column: len(utf16.Encode([]rune(before))) + 1}
}

// static returns the i-th import that esbuild sees as a declaration.
func (p *passage) static(i int) imported {
	for _, one := range p.imports {
		if one.Dynamic || one.foreseen() {
			continue
		}
		if i == 0 {
			return one
		}
		i--
	}
	return imported{}
}
