package replies

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// ProgramReply is a reply from a model that writes code.
type ProgramReply struct {
	Reasoning string `json:"reasoning,omitempty" jsonschema:"description=a sentence or two on what to do next and why"`
	Code      string `json:"code" jsonschema:"description=the next complete JavaScript program"`
}

var programQuestion = signature.Must(signature.New[struct{}, ProgramReply](""))

// ProgramSpec returns the signature for requests that ask for a task's next program.
func ProgramSpec(task *signature.Spec) *signature.Spec {
	return programQuestion.Spec().WithInstructions(task.Instructions())
}

// ProgramAlone is a signature with only the output that every reply must have.
var ProgramAlone = signature.Must(signature.New[struct{}, struct {
	Code string `json:"code"`
}]("")).Spec()

var (
	errNoProgram = errors.New("the reply has no program; write it in one ```js block")
	errOpenFence = errors.New("the code fence is not closed, so the program may be cut off; write it whole. If " +
		"the program has fences in its strings, put a longer fence around it")
	errTwoPrograms = errors.New("the reply has several programs; join them or choose one, and write it in one " +
		"```js block")
	errEmptyProgram = errors.New("the program is empty; write it in one ```js block")
)

// ReadProgram returns the only fenced block of JavaScript in a reply, and the text before it as the reasoning. It
// returns an error, worded for the model, if the program may be cut off or if there are several programs. If the reply
// has no fence, ReadProgram returns an error together with the whole reply as the Code, since only the check of the
// sandbox can tell whether it is a program.
func ReadProgram(said string, truncated bool) (ProgramReply, error) {
	text, err := visible(said)
	if err != nil {
		return ProgramReply{}, err
	}
	if truncated && !endMarker.MatchString(text) {
		return ProgramReply{}, errCutOff
	}
	if inner := strings.TrimLeft(Unfence(text), "\n"); startsWithMark(inner) {
		text = inner // no program begins with a marker
	}
	blocks, open := fences(text)
	if open {
		return ProgramReply{}, errOpenFence
	}
	found, err := onlyProgram(blocks)
	switch {
	case err != nil:
		return ProgramReply{}, err
	case found != nil && inObject(text[:found.start]+text[found.end:]):
		return ProgramReply{}, errTwoPrograms
	case found != nil:
		return ProgramReply{withoutMarks(text[:found.start]), found.text}.checked()
	case len(blocks) > 0:
		return ProgramReply{}, fmt.Errorf("the reply has a code fence of %s, but no program in JavaScript; "+
			"write it in one ```js block", blocks[0].tag)
	}
	return ProgramReply{Code: text}, errNoProgram
}

// codeMember matches a JSON object that may contain a program.
var codeMember = regexp.MustCompile(`\{\s*(?:"reasoning".*)?"code"\s*:\s*("(?:[^"\\]|\\.)*"?)`)

// startsWithMark reports whether the first line of text begins with the marker of a program's field.
func startsWithMark(text string) bool {
	at := programMark.FindStringIndex(text)
	return at != nil && at[0] == 0
}

// inObject reports whether text has a program in a JSON object. An object such as {"code": "not_found"} is an error.
func inObject(text string) bool {
	return slices.ContainsFunc(codeMember.FindAllStringSubmatch(text, -1), func(m []string) bool {
		return callOrDeclaration.MatchString(m[1])
	})
}

// Code returns the program in a field's value, without a fence around it.
func Code(value string) (string, error) {
	blocks, open := fences(value)
	if len(blocks) == 0 && !open {
		p, err := ProgramReply{Code: strings.TrimSpace(value)}.checked()
		return p.Code, err
	}
	p, err := ReadProgram(value, false)
	return p.Code, err
}

// checked returns an error if the program has nothing to run.
func (p ProgramReply) checked() (ProgramReply, error) {
	if at := endMarker.FindStringIndex(p.Code); at != nil && blank(p.Code[at[1]:]) {
		p.Code = strings.TrimRight(p.Code[:at[0]], "\n") // the end marker is inside the fence
	}
	if code := strings.TrimSpace(p.Code); code == "" || code == Placeholder("code") {
		return ProgramReply{}, errEmptyProgram
	}
	return p, nil
}

// onlyProgram returns the only block that is a program, or nil. Among several blocks, a block without a language counts
// only if it contains something like a call or a declaration.
func onlyProgram(blocks []block) (found *block, err error) {
	for i, b := range blocks {
		switch {
		case !isJavaScript[b.tag], strings.TrimSpace(b.text) == Placeholder("code") && len(blocks) > 1, b.tag == "" &&
			len(blocks) > 1 && !callOrDeclaration.MatchString(b.text):
		case found != nil && strings.TrimSpace(found.text) != strings.TrimSpace(b.text):
			return nil, errTwoPrograms
		case found == nil:
			found = &blocks[i]
		}
	}
	return found, nil
}

var callOrDeclaration = regexp.MustCompile(`[\w$)\]]\(|\b(?:const|let|var|function|class)\s`)

// isJavaScript has the languages of fences around programs.
var isJavaScript = map[string]bool{"": true, "js": true, "javascript": true, "ts": true, "typescript": true}

// programMark matches the markers of a program's fields; endMarker matches the marker at the end of a reply.
var (
	programMark = regexp.MustCompile(
		`(?im)^[ \t*]*\[\[[ \t]*##[ \t]*(?:reasoning|code|completed)[ \t]*##[ \t]*\]\][*:]*`)
	endMarker = regexp.MustCompile(`(?im)^[ \t]*\[\[ ## completed ## \]\]`)
)

// withoutMarks removes the markers of fields from text.
func withoutMarks(text string) string {
	return strings.TrimSpace(programMark.ReplaceAllString(text, ""))
}
