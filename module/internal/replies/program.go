package replies

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/writ-go/writ/signature"
)

// Program is a reply of a model that writes code.
type Program struct{ Reasoning, Code string }

// programReply is what the model is asked for: the next program.
type programReply struct {
	Reasoning string `json:"reasoning,omitempty" jsonschema:"description=a sentence or two on what to do next and why"`
	Code      string `json:"code" jsonschema:"description=the next complete JavaScript program"`
}

var programQuestion = signature.Must(signature.New[struct{}, programReply](""))

// ProgramSpec is the question for the next program of a task.
func ProgramSpec(task *signature.Spec) *signature.Spec {
	return programQuestion.Spec().WithInstructions(task.Instructions())
}

// ProgramAlone has the only output that a reply needs.
var ProgramAlone = signature.Must(signature.New[struct{}, struct {
	Code string `json:"code"`
}]("")).Spec()

var (
	errNoProgram = errors.New("the reply has no program; write it in one ```js block")
	errOpenFence = errors.New("the code fence is not closed, so the program may be cut off; write it whole. A " +
		"program that has fences in its texts needs a longer fence around it")
	errTwoPrograms = errors.New("the reply has several programs; join them or choose one, and write it in one " +
		"```js block")
	errEmptyProgram = errors.New("the program is empty; write it in one ```js block")
)

// ReadProgram finds the program in a reply: the one fenced block of JavaScript. The text before it is the reasoning. A
// program that may be cut off, or several programs, are an error, worded for the model. A reply without a fence is an
// error, too, but ReadProgram also returns it as the Code: the whole reply may be a program, which only a check in the
// sandbox can tell.
func ReadProgram(said string, truncated bool) (Program, error) {
	text, err := visible(said)
	if err != nil {
		return Program{}, err
	}
	if truncated && !endMarker.MatchString(text) {
		return Program{}, errCutOff
	}
	text = outOfFence(text)
	blocks, open := fences(text)
	if open {
		return Program{}, errOpenFence
	}
	found, err := onlyProgram(blocks)
	switch {
	case err != nil:
		return Program{}, err
	case found != nil && codeMember.MatchString(text[:found.start]+text[found.end:]):
		return Program{}, errTwoPrograms
	case found != nil:
		return Program{withoutMarks(text[:found.start]), found.text}.checked()
	case len(blocks) > 0:
		return Program{}, fmt.Errorf("the reply has a code fence of %s, but no program in JavaScript; write it in one "+
			"```js block", blocks[0].tag)
	}
	return Program{Code: text}, errNoProgram
}

// codeMember matches a program in a JSON object.
var codeMember = regexp.MustCompile(`\{\s*(?:"reasoning".*)?"code"\s*:\s*"`)

// Code finds the program in the value of a field, which may be fenced.
func Code(value string) (string, error) {
	blocks, open := fences(value)
	if len(blocks) == 0 && !open {
		p, err := Program{Code: strings.TrimSpace(value)}.checked()
		return p.Code, err
	}
	p, err := ReadProgram(value, false)
	return p.Code, err
}

// checked returns an error if the program has nothing to run.
func (p Program) checked() (Program, error) {
	if at := endMarker.FindStringIndex(p.Code); at != nil && blank(p.Code[at[1]:]) {
		p.Code = strings.TrimRight(p.Code[:at[0]], "\n") // it ended before its fence
	}
	if code := strings.TrimSpace(p.Code); code == "" || code == Placeholder("code") {
		return Program{}, errEmptyProgram
	}
	return p, nil
}

// onlyProgram returns the block that is a program, or nil. If there are several blocks, one without a language is a
// program only if it contains what looks like a call or a declaration.
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

// isJavaScript are the languages of fences that hold programs.
var isJavaScript = map[string]bool{"": true, "js": true, "javascript": true, "ts": true, "typescript": true}

// The markers of the fields of a program, and the one that ends a reply.
var (
	programMark = regexp.MustCompile(`(?im)^[ \t*]*\[\[[ \t]*##[ \t]*(?:reasoning|code|completed)[ \t]*##[ \t]*\]\][*:]*`)
	endMarker   = regexp.MustCompile(`(?im)^[ \t]*\[\[ ## completed ## \]\]`)
)

// withoutMarks removes the markers of fields from text.
func withoutMarks(text string) string {
	return strings.TrimSpace(programMark.ReplaceAllString(text, ""))
}
