package typescript

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

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

// maxFaults is the maximum number of findings.
const maxFaults = 20

// transform translates a program to JavaScript. A program runs as a function body, which may return but cannot import.
// esbuild treats the program as a module, which may import but cannot return: see [translation.withoutReturns] and
// [translation.scan].
func transform(program string) *transformed {
	if strings.HasPrefix(program, "#!") {
		program = "//" + program[2:]
	}
	p := &translation{program: engine.NewLineTable(program), text: program}
	if strings.HasPrefix(strings.TrimSpace(program), "```") {
		at := p.program.Pos(strings.Index(program, "`"))
		p.fault(at, "the program is in a code fence", "leave out the lines with ```")
		return &transformed{Faults: p.faults}
	}
	p.value, p.empty, p.load = unused(program, "$r"), unused(program, "$ret"), unused(program, "$imp")
	source, result := program, through(program)
	if replaced := p.withoutReturns(result.Errors); replaced != program {
		source, result = replaced, through(replaced)
	}
	if len(result.Errors) > 0 {
		return &transformed{Faults: p.faultsOf(result.Errors)}
	}
	p.globalShims(source)
	t, err := p.finish(string(result.Code), result.Map)
	if err != nil {
		p.faults = []fault{{Message: err.Error()}}
	}
	if len(p.faults) > 0 {
		return &transformed{Faults: p.faults[:min(len(p.faults), maxFaults)]}
	}
	return t
}

// translation is one program on its way from TypeScript to JavaScript.
type translation struct {
	program *engine.LineTable
	text    string // the program
	faults  []fault

	// Names that do not occur in the program: the variables that replace return with and
	// without a value, and the function that replaces import().
	value, empty, load string

	code      string // esbuild's output
	generated *engine.LineTable
	origins   *sourcemap.Map
	imports   []imported
}

// unused returns a name that begins with prefix and does not occur in a program.
func unused(program, prefix string) string {
	for n := 10; ; n++ {
		if name := prefix + strconv.Itoa(n); !strings.Contains(program, name) {
			return name
		}
	}
}

// through runs esbuild on a program. esbuild removes unused imports.
func through(program string) api.TransformResult {
	return api.Transform(program, api.TransformOptions{
		Loader: api.LoaderTS, Target: api.ES2022, Supported: supports(propertyName.MatchString(program)),
		Charset: api.CharsetUTF8, Platform: api.PlatformNeutral,
		Sourcemap: api.SourceMapExternal, SourcesContent: api.SourcesContentExclude,
		LegalComments: api.LegalCommentsNone,
		TsconfigRaw:   "{}", LogLevel: api.LogLevelSilent,
	})
}

// supports returns which language features esbuild's output may use. patterns says whether the program may have
// patterns with character properties, which goja accepts but never matches. In that case, esbuild replaces pattern
// literals with calls to RegExp, and the library has another RegExp: see patternSource. import() is replaced later: see
// [translation.scan].
func supports(patterns bool) map[string]bool {
	return map[string]bool{
		"async-generator": false, "for-await": false, "using": false, "decorators": false, "dynamic-import": true,
		"regexp-sticky-and-unicode-flags": !patterns, "regexp-set-notation": false,
	}
}

var (
	// noOperand matches the text after the word return if the statement has no value.
	noOperand = regexp.MustCompile(
		`^(?:[ \t]|/\*.*?\*/)*(?:$|[;}\n\r\x{2028}\x{2029}]|//|/\*(?:[^*\n]|\*+[^*/\n])*\**\n)`)
	// beforeOperand matches the text between the word return and the value.
	beforeOperand = regexp.MustCompile(`^(?:[\s(]|` + comment + `)*`)
	comments      = regexp.MustCompile(comment)
)

const comment = `//[^\n\r]*|/\*(?s:.*?)\*/`

// withoutReturns replaces top-level returns, which esbuild rejects because a module cannot return, with
// assignments of the same length. [translation.finish] restores the returns. Comments before the value become
// spaces, because esbuild would otherwise put the value on another line.
func (p *translation) withoutReturns(errs []api.Message) string {
	source := []byte(p.text)
	for _, e := range errs {
		if e.Location == nil || !strings.HasPrefix(e.Text, "Top-level return cannot be used") {
			continue
		}
		at := p.program.Start(e.Location.Line) + e.Location.Column
		rest := p.text[at+len("return"):]
		if noOperand.MatchString(rest) {
			copy(source[at:], p.empty)
			continue
		}
		before := comments.ReplaceAllStringFunc(beforeOperand.FindString(rest), blank)
		copy(source[at:], p.value+" ="+before)
	}
	return string(source)
}

// finish restores the returns and replaces the imports with constants.
func (p *translation) finish(code string, origins []byte) (*transformed, error) {
	var err error
	if p.origins, err = sourcemap.Parse(origins); err != nil {
		return nil, err
	}
	code = strings.ReplaceAll(code, p.value+" = ", "return ")
	p.code = strings.ReplaceAll(code, p.empty+";", "return;")
	p.generated = engine.NewLineTable(p.code)
	source := p.scan()
	p.shims()
	t := &transformed{Map: string(origins), Imports: p.required()}
	if head := p.head(t.Imports); head != "" {
		source = head + "\n" + source
		t.Map = lineLower(origins)
	}
	t.Source = source
	return t, nil
}

// lineLower returns the source map for the code after a line has been inserted before it.
func lineLower(origins []byte) string {
	var file map[string]any
	_ = json.Unmarshal(origins, &file) // sourcemap.Parse has accepted it
	file["mappings"] = fmt.Sprintf(";%s", file["mappings"])
	text, _ := json.Marshal(file)
	return string(text)
}

// origin returns the position in the program of the token at an offset in the code, and the program's text from there.
// The position is zero if no token begins at the offset. For a line's first token, esbuild maps the beginning of the
// indentation.
func (p *translation) origin(offset int) (at engine.Pos, text string) {
	here := p.generated.Pos(offset)
	line, column, behind, ok := p.origins.Origin(here.Line-1, here.Column-1)
	indented := behind == here.Column-1 && strings.Trim(p.code[offset-behind:offset], " ") == ""
	if !ok || behind > 0 && !indented || line >= p.program.Len() {
		return engine.Pos{}, ""
	}
	at = engine.Pos{Line: line + 1, Column: column + 1}
	text = p.text[p.program.Start(at.Line):]
	for i, r := range text {
		if column <= 0 {
			return at, text[i:]
		}
		column -= engine.UTF16Len(string(r))
	}
	return at, ""
}

func (p *translation) fault(at engine.Pos, message, hint string) {
	p.faults = append(p.faults, fault{Message: message, Hint: hint, Line: at.Line, Column: at.Column})
}

// faultsOf converts esbuild's errors.
func (p *translation) faultsOf(errs []api.Message) []fault {
	for _, e := range errs[:min(len(errs), maxFaults)] {
		var at engine.Pos
		if l := e.Location; l != nil {
			at = p.position(l.Line, l.Column)
		}
		p.fault(at, lower(e.Text), "")
	}
	return p.faults
}

// lower makes the first letter of a message lowercase if the second letter is lowercase.
func lower(text string) string {
	if len(text) > 1 && 'a' <= text[1] && text[1] <= 'z' {
		return strings.ToLower(text[:1]) + text[1:]
	}
	return text
}

// position converts a line and a column in bytes to a position.
func (p *translation) position(line, column int) engine.Pos {
	switch {
	case line < 1:
		return engine.Pos{Line: 1, Column: 1}
	case line > p.program.Len():
		return p.program.Pos(len(p.text))
	}
	return p.program.Pos(p.program.Start(line) + min(column, len(p.program.Line(line))))
}
