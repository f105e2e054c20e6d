package check

import (
	"cmp"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/dop251/goja/parser"
	tdparse "github.com/tdewolff/parse/v2"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

func syntaxFailure(message, hint string, pos engine.Pos) *engine.Failure {
	return &engine.Failure{Kind: engine.KindSyntax, Message: message, Hint: hint, Pos: pos}
}

// preflightFailure describes an error from the first parser.
func preflightFailure(src *Source, err error) *engine.Failure {
	f := &engine.Failure{Kind: engine.KindSyntax, Message: err.Error()}
	var perr *tdparse.Error
	if errors.As(err, &perr) {
		f.Message = wordSyntax(perr.Message)
		f.Pos = src.fromRunes(perr.Line, perr.Column)
	}
	diagnose(src, f)
	return f
}

// parseFailure describes an error from goja's parser.
func (s *Source) parseFailure(err error, unsupported string) *engine.Failure {
	message, line, column := err.Error(), 0, 0
	var list parser.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		message, line, column = list[0].Message, list[0].Position.Line, list[0].Position.Column
	}
	if unsupported != "" {
		message = unsupported + " cannot be used here"
	}
	return s.SyntaxFailure(message, line, column)
}

// SyntaxFailure describes an error from goja's parser or compiler at a position in the wrapped program. line is 0 if
// the position is not known.
func (s *Source) SyntaxFailure(message string, line, column int) *engine.Failure {
	f := &engine.Failure{Kind: engine.KindSyntax, Message: wordSyntax(message)}
	if line > 0 {
		f.Pos = s.fromGoja(line, column)
	}
	diagnose(s, f)
	return f
}

func wordSyntax(message string) string {
	message = strings.TrimPrefix(message, "SyntaxError: ")
	if strings.HasPrefix(message, "unsupported binding target") {
		return "only a name can be declared"
	}
	return strings.ToLower(message[:min(1, len(message))]) + message[min(1, len(message)):]
}

// mistake is a common mistake of models. The parser's message and the text around the position identify it. A nil
// pattern matches anything.
type mistake struct {
	says, before, behind, line *regexp.Regexp
	message, hint              string // if message is empty, the parser's message is used
}

const (
	noTypes   = "write JavaScript, without types"
	notPython = "the program must be JavaScript, not Python"
)

// mistakes are tried in this order, the most certain ones first.
var mistakes = []mistake{
	{says: re(`\b(import|export)\b`), message: "import and export cannot be used here", hint: noModulesHint},
	{behind: re(`^import\b`), message: "import cannot be used here", hint: noModulesHint},
	{says: re(`for await`), hint: "await the promises in an ordinary for…of, or use Promise.all"},
	{
		says:    re(`async generators`),
		message: "async generators cannot be used here", hint: "collect the items in an array",
	},
	{
		says:    re(`flags supplied`),
		message: "this engine knows only the flags g, i, m, s, u and y", hint: "leave out the other flags",
	},

	{before: re(`(^|[\s;{}()])#\s*$`), message: "# does not begin a comment", hint: "write // instead"},
	{behind: re(`^#\s`), message: "# does not begin a comment", hint: "write // instead"},

	{line: re(`^\s*[A-Z][a-z’']*(\s+[A-Za-z’',-]+){2,}\s*[.:!?…]?\s*$`), message: prose, hint: onlyProgram},
	{line: re(`^\s*([-*]|\d+\.)\s+[A-Za-z*][A-Za-z’'*]*(\s+[A-Za-z’',*-]+){2,}`), message: prose, hint: onlyProgram},

	{line: re(`^\s*(def|class|if|elif|else|for|while|try|except|with)\b[^{}]*:\s*(#.*)?$`), hint: notPython},
	{before: re(`\b[fr]$`), behind: re(`^["']`), hint: notPython + ": `${name}` in backquotes is a template"},
	{behind: re(`^(and|or|not|is|elif)\s`), hint: notPython + ": write &&, ||, !, ===, else if"},

	{
		line: re(`^\s*(export\s+|declare\s+)*(interface|type|enum|declare|namespace|abstract\s+class)\s+[\w$]+`),
		hint: noTypes,
	},
	{before: re(`\b(private|public|protected|readonly|abstract|override|declare)\s+$`), hint: noTypes},
	{before: re(`[\w$)\]]$`), behind: re(`^!\s*([.)\];,[]|$)`), hint: noTypes},
	{behind: re(`^(as|satisfies|implements)\s+[\w${(\[]`), hint: noTypes},
	{
		says: re(`instead of : in arguments`), before: re(`[\w$]$`),
		hint: "there are no named arguments: pass one object, f({name: value})",
	},
	{
		says: re(`(instead of|unexpected) :`), before: re(`[\w$)\]}]\??$|\?$`), behind: re(`^:\s*[\w$({[]`),
		hint: noTypes,
	},
	{says: re(`expected|unexpected`), line: re(`[\w$]<\s*[\w$][\w$\s,|.<>\[\]"']*>\s*[({;=]`), hint: noTypes},

	{
		says:    re(`^invalid destructuring binding target`),
		message: "the elements of an array pattern that has a default cannot have defaults here",
		hint:    "destructure the array in a separate statement",
	},
	{
		says: re(`^unexpected token`), line: re(`\b(get|set|async)\s*[=;}]`),
		message: "a field cannot be called get, set or async here", hint: "choose another name",
	},
	{says: re(`^unexpected EOF( in expression)?$`),
		hint: "a bracket is not closed, or the last statement is not complete"},
	{says: re(errPanic.Error()), hint: "names after ... in brackets must consist of the letters a to z"},
}

const (
	noModulesHint = "there are no modules" // the host adds the available tools
	prose         = "this is prose, not JavaScript"
	onlyProgram   = "write only the program, and put remarks in // comments"
)

func re(pattern string) *regexp.Regexp { return regexp.MustCompile(pattern) }

// diagnose replaces f's message with a message about the probable mistake, if it recognizes one.
func diagnose(src *Source, f *engine.Failure) {
	before, behind := src.around(f.Pos)
	switch {
	case strings.HasPrefix(strings.TrimSpace(src.Text), "{") && json.Valid([]byte(src.Text)):
		f.Message = "the program is JSON"
		f.Hint = "make the call instead of describing it: write JavaScript that calls the tools"
		return
	case awaitAtEnd.MatchString(before) && operand.MatchString(behind) && !strings.HasPrefix(behind, "import"):
		f.Message, f.Hint = AwaitMessage, AwaitHint
		f.Column -= engine.UTF16Len(before[awaitAtEnd.FindStringIndex(before)[0]:])
		return
	}
	line := strings.TrimRight(before+behind, "\r\n")
	for _, m := range mistakes {
		if fits(m.says, f.Message) && fits(m.before, before) && fits(m.behind, behind) && fits(m.line, line) {
			f.Message, f.Hint = cmp.Or(m.message, f.Message), m.hint
			if m.hint == noTypes {
				f.Message += otherTypes(src, f.Line)
			}
			return
		}
	}
}

// typed matches syntax that only TypeScript has: declarations, annotations of variables, parameters and
// results, type arguments, as, satisfies and the postfix !.
var typed = re(`^\s*(export\s+|declare\s+)*(interface|type|enum|declare|namespace|abstract\s+class)\s+[\w$]+` +
	`|\b(const|let|var)\s*([\w$]+|\{[^=]*\}|\[[^=]*\])\s*:|\(\s*[\w$]+\??\s*:` +
	`|,\s*[\w$]+\??\s*:\s*(string|number|boolean|any|unknown|Record<|[\w$]+\[\])` +
	`|\)\s*:\s*[A-Za-z][\w$<>\[\]| ]*(=>|\{)|[\w$]<\s*[\w$][\w$\s,|.<>\[\]]*>\s*\(` +
	`|[\w$)\]}]\s+(as|satisfies)\s+[\w${\[]|[\w$)\]]!\s*([.)\];,]|$)`)

var stringOrComment = re(`"(\\.|[^"\\\n])*"|'(\\.|[^'\\\n])*'|//.*|/\*(?s:.*?)\*/`)

// otherTypes lists the other lines that have types, so that a model can remove all types at once.
func otherTypes(src *Source, known int) string {
	var lines []string
	for n := 1; n <= src.Len() && len(lines) < 20; n++ {
		if n != known && typed.MatchString(stringOrComment.ReplaceAllString(src.Line(n), `""`)) {
			lines = append(lines, strconv.Itoa(n))
		}
	}
	switch last := len(lines) - 1; {
	case last < 0:
		return ""
	case last == 0:
		return "; line " + lines[0] + " has types, too"
	default:
		return "; lines " + strings.Join(lines[:last], ", ") + " and " + lines[last] + " have types, too"
	}
}

func fits(pattern *regexp.Regexp, text string) bool {
	return pattern == nil || pattern.MatchString(text)
}

// If await is not allowed, the first parser treats it as a name, and fails at its operand.
var (
	awaitAtEnd = re(`\bawait\s*$`)
	operand    = re("^[\\w$\"'`(\\[{!~+/-]")
)
