package replies

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// Program is a reply of a model that writes code.
type Program struct{ Reasoning, Code string }

// programReply is what the model is asked for: the next program.
type programReply struct {
	Reasoning string `json:"reasoning,omitempty" jsonschema:"description=what to do next and why; a sentence or two"`
	Code      string `json:"code" jsonschema:"description=the next JavaScript program; whole"`
}

var programQuestion = signature.Must(signature.New[struct{}, programReply](""))

// ProgramSpec is the question for the next program of a task.
func ProgramSpec(task *signature.Spec) *signature.Spec {
	return programQuestion.Spec().WithInstructions(task.Instructions())
}

// ReadProgram finds the program in a reply: under its marker, as a field of the
// JSON object that is the whole reply, or in the one fenced block. A program of
// which it isn't certain that it is whole, or the one that was meant, is an
// error, worded for the model: it must not run.
func ReadProgram(said string, truncated bool, asked Form) (Program, error) {
	spec := programQuestion.Spec()
	outputs := spec.Outputs()
	text, err := visible(said)
	if err == nil && truncated && !ended(outputs, text) {
		err = errCutOff
	}
	if err != nil {
		return Program{}, err
	}
	text = withEnd(outputs, text)
	marks, err := boundaries(outputs, text)
	if err != nil {
		return Program{}, err
	}
	fields, behind, err := split(outputs, text, marks)
	if err == nil && rethought.MatchString(behind) {
		err = errRethought
	}
	if err == nil && len(fields) > 0 && disowned(aboveMarks(text), behind) {
		err = errDisowned
	}
	if err != nil {
		return Program{}, err
	}
	p := Program{Reasoning: fields["reasoning"].text}
	if code, ok := fields["code"]; ok {
		p.Code, err = codeIn(code, asked)
	} else if object, isObject := programObject(text); isObject {
		p = object
	} else if tags, isTagged := programTags(text); isTagged {
		p = tags
	} else if len(fields) > 0 {
		err = errors.New("there is nothing " + asked.ofProgram() + "; put the program there")
	} else {
		var before string
		p.Code, before, err = onlyBlock(text, asked)
		if p.Reasoning == "" {
			p.Reasoning = before
		}
		if unread := unreadObject(text); err != nil && unread != nil {
			err = unread
		}
	}
	switch {
	case err != nil:
	case withdrawn(p.Reasoning) || withdrawnBeside(text, p.Code):
		err = errDisowned
	case blank(p.Code):
		err = errors.New("the program is empty")
	case leavesOut(p.Code):
		err = errors.New("a comment in the program stands for a part that is left out; write the program whole")
	case p.Code == "null" || onlyComments(p.Code) || hollow("code", strings.TrimSpace(p.Code)):
		err = errors.New("the program has a placeholder or comments, and nothing else; write it out")
	}
	return p, err
}

// rethought finds second thoughts behind a program, and other programs.
var rethought = regexp.MustCompile("(?i)\\b(?:wait[,.!…]|wait [-–—]|(?:actually|oops|hmm+|mistake|wrong|sorry|correction|bug|second thought|(?:you|i|we) should)\\b)|```(?:js|javascript|ts|typescript)\\b")

var errRethought = errors.New("what is said behind the program may take it back; end with the program that is to run")

// codeIn takes a program out of the fence that most models put it in. Anything
// beside the fence, or several of them, may be two programs, or one that holds a
// fence as text.
func codeIn(g given, asked Form) (string, error) {
	g.text = withoutOutput(g.text)
	blocks, outside, open := fences(g.text)
	quoted, isQuoted := quotedText(g.text)
	switch {
	case open && !g.open && len(blocks) == 0 && blank(outside) && closedByEnd(g.text) != "":
		return closedByEnd(g.text), nil
	case open:
		return "", errors.New("the code fence is not closed, so the program may be cut off; write it whole")
	case len(blocks) == 1 && !mayBeJavaScript[blocks[0].tag]:
		return "", fmt.Errorf("the program is said to be %s; write JavaScript", blocks[0].tag)
	case len(blocks) == 1 && disowned(besideFence(g.text)):
		return "", errDisowned
	case len(blocks) == 1 && presentedBy(g.text, outside):
		return blocks[0].text, nil
	case len(blocks) > 0:
		return "", errors.New("there is more than one fenced program " + asked.ofProgram() + "; put it into one code fence and nothing beside it. A program that has fences in its texts needs a longer fence around it")
	case isQuoted:
		return quoted, nil
	case json.Valid([]byte(g.text)) && g.text[0] == '"':
		return "", errors.New("the program has half of a character; write the character itself")
	case g.open:
		return "", errors.New("nothing says where the program ends; put it into a code fence, and the end marker behind it")
	}
	return g.text, nil
}

// closedByEnd is the program in a fence that the end marker closes.
func closedByEnd(text string) string {
	first, rest, _ := strings.Cut(text, "\n")
	if _, tag := fence(first); !mayBeJavaScript[strings.ToLower(tag)] {
		return ""
	}
	return strings.TrimSpace(rest)
}

// printed finds what a program prints, in a fence of its own behind it.
var printed = regexp.MustCompile("(?si)\n```\n\\s*(?:(?:expected |sample |example )?output|(?:this|it) (?:prints|outputs|(?:should|will|would) (?:print|output)(?: something)?(?: like(?: this)?)?)|prints)[*_]*:[*_]*\\s*\n```(?:text|txt|console|output|plaintext)?\n[^`]*\n```\\s*$")

// withoutOutput is a text without what the program in it is said to print.
func withoutOutput(text string) string {
	if at := printed.FindStringIndex(text); at != nil {
		return text[:at[0]] + "\n```"
	}
	return text
}

// presentedBy reports whether what stands outside of the only fence of a text
// announces it, or explains it, or does both.
func presentedBy(text, outside string) bool {
	if blank(outside) || offers(outside) || explains(text, outside) {
		return true
	}
	before, rest, _ := strings.Cut(text, "\n```")
	return offers(before) && explains("```"+rest, strings.TrimPrefix(outside, before))
}

// explains reports whether what stands outside of a fence is an explanation behind
// it, in whole sentences and no code.
func explains(text, outside string) bool {
	outside = strings.TrimSpace(outside)
	return strings.HasPrefix(text, "`"+"``") && explanation.MatchString(outside) && !talks(outside) && !discards(outside) && !rethought.MatchString(outside) && !strings.ContainsAny(outside, "{};=`")
}

var explanation = regexp.MustCompile(`^(?:This|The|It|Here,|Note that) [^\n]*[^\s.]\.$`)

// programObject reads a reply that is one JSON object. Objects within a reply
// are not looked at: programs are full of them.
func programObject(text string) (Program, bool) {
	text = strings.TrimSpace(unquoted(withoutCall(Unfence(text))))
	if !strings.HasPrefix(text, "{") {
		return Program{}, false
	}
	raw, l, err := readLax(text)
	if err != nil || l.unclosed || l.bare || !blank(text[l.at:]) {
		return Program{}, false
	}
	var object signature.Values
	if json.Unmarshal(argumentsOf(raw), &object) != nil {
		return Program{}, false
	}
	var p Program
	if object.Decode("code", &p.Code) != nil {
		return Program{}, false
	}
	for _, v := range object {
		var said string
		if name := strings.ToLower(v.Name); (reasons[name] || remarkNames[name]) && json.Unmarshal(v.JSON, &said) == nil {
			p.Reasoning = strings.TrimSpace(p.Reasoning + "\n\n" + said)
		}
	}
	if inner := Unfence(p.Code); !blank(inner) {
		p.Code = inner
	}
	var language string
	if object.Decode("language", &language) == nil && !mayBeJavaScript[strings.ToLower(language)] {
		return Program{}, false
	}
	return p, true
}

// unreadObject says why an object with a program, as models write it, cannot be read.
func unreadObject(text string) error {
	text = strings.TrimSpace(withoutCall(Unfence(text)))
	if !strings.HasPrefix(text, "{") || !codeMember.MatchString(text) {
		return nil
	}
	_, _, err := readLax(text)
	if err != nil {
		err = fmt.Errorf("the JSON object in the reply cannot be read: %w", err)
	}
	return err
}

// programTags reads a program in tags, where there is no fence in the reply that
// may hold another.
func programTags(text string) (p Program, ok bool) {
	if strings.Contains(text, "```") || strings.Contains(text, "~~~") || HasMarker(text) {
		return p, false
	}
	r := reply{outputs: programQuestion.Spec().Outputs(), text: text}
	behind := 0
	for _, f := range r.outputs {
		g, end, err := r.tagged(f)
		if err != nil || end == 0 && f.Required {
			return p, false
		}
		behind = max(behind, end)
		if f.Name == "code" {
			p.Code = g.text
		} else {
			p.Reasoning = g.text
		}
	}
	above, _, _ := strings.Cut(text, "<")
	return p, blank(r.withoutEmpty(text[behind:])) && !disowned(above, "")
}

// argumentsOf is what is given to the function that an object calls, or the object.
func argumentsOf(object json.RawMessage) json.RawMessage {
	var values signature.Values
	if json.Unmarshal(object, &values) != nil {
		return object
	}
	if inner := wrapped(values); inner != nil && inner[0] == '{' {
		return inner
	}
	return object
}

// onlyBlock returns the one block that may hold JavaScript, and the text before.
func onlyBlock(text string, asked Form) (code, before string, err error) {
	text = withoutOutput(text)
	all, outside, open := fences(text)
	blocks := slices.DeleteFunc(slices.Clone(all), func(b block) bool { return !mayBeJavaScript[b.tag] })
	before, _, _ = strings.Cut(text, "```")
	switch {
	case open:
		return "", "", errors.New("the code fence is not closed, so the program may be cut off; write it whole")
	case len(blocks) == 0 && len(all) > 0:
		return "", "", fmt.Errorf("the reply has a code fence of %s, but no program in JavaScript; put it %s", all[0].tag, asked.ofProgram())
	case len(blocks) == 0:
		return "", "", errors.New("the reply has no program; put it " + asked.ofProgram())
	case blocks[0].tag == "" && !blank(outside):
		return "", "", errors.New("it is not certain that the text in the code fence is a program to run; put it " + asked.ofProgram())
	case len(blocks) > 1, codeMember.MatchString(outside):
		return "", "", errors.New("the reply has several programs; put the one to run " + asked.ofProgram())
	}
	behind := text[strings.LastIndex(text, "```")+1:]
	if rethought.MatchString(behind) || conditional.MatchString(behind) || forbids.MatchString(outside) || withheld(before) {
		return "", "", errRethought
	}
	if disowned(before, behind) {
		return "", "", errDisowned
	}
	return blocks[0].text, strings.TrimSpace(before), nil
}

// forbids finds what says that a program is not to run, and conditional what it waits for.
var (
	forbids     = anyOf(`\b(?:do not|don['’]t|never|must not|not to) (?:yet )?(?:(?:run|execute)\b|(?:use|submit)(?:\s*(?:[.!?:;,\n]|$)| (?:this|that|it|these|those|such|so|again|yet)\b| (?:[\w-]+ ){0,2}(?:code|programs?|scripts?|snippets?|block)\b| the (?:following|above|below)\s*(?:[.!?:;,\n]|$)))`)
	conditional = anyOf(`(?m:^)`+"`*"+`\s*but\b|\byour consent\b`,
		// Needs approval. I run it with permission. That orders await approval is no condition.
		`(?:^|[.!?;:(\n])\W*(?:[\w']+ ){0,2}(?:permission|approval)\b`,
		`(?:^|[.!?;:(\n])\W*(?:(?:this|it|that|the program|is|still|only|first|to be run) )*(?:await\w*|wait\w*|pending|needs?|requires?|with|without|after|upon|on|once|until|subject to|given)\b[^.!?\n]*\b(?:permission|approval)\b`,
		`\b(?:I|we|me|you|your|run|runs|running|executed?|proceed\w*)\b[^.!?\n]*\b(?:permission|approval)\b|\b(?:permission|approval)\b[^.!?\n]*\b(?:I|we|me|you|your|run|runs|running|executed?|proceed\w*)\b`)
)

// withheld reports whether the last sentence before a program presents it as another than
// the one to run: Old version:
func withheld(before string) bool {
	last := lastSentence(before)
	return strings.HasSuffix(strings.TrimSpace(before), ":") && presentsOther.MatchString(last)
}

var presentsOther = regexp.MustCompile(`(?i)^\W*(?:(?:the|my|your|an?) )?(?:(?:old|previous|original|former|earlier|wrong|buggy|broken|bad|naive) (?:\w+)|for example|for instance|e\.g\.|example|draft)[\w ]{0,20}:?\W*$`)

// codeMember finds an object with a program.
var codeMember = regexp.MustCompile(`["']code["']\s*:\s*["'\x60]`)

var mayBeJavaScript = map[string]bool{
	"": true, "js": true, "javascript": true, "mjs": true, "jsx": true, "ts": true, "typescript": true,
	"node": true, "nodejs": true, "es6": true, "ecmascript": true,
}
