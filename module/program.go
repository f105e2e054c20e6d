package module

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"

	"github.com/writ-go/writ/signature"
)

// program is a reply of a model that writes code.
type program struct{ reasoning, code string }

// readProgram finds the program in a reply: under its marker, as a field of a
// JSON object, or in the one fenced block.
func readProgram(reply string) (program, error) {
	reply = withoutThinking(reply)
	if strings.TrimSpace(reply) == "" {
		return program{}, errors.New("the reply is empty")
	}
	fields, err := readMarkers(reply)
	if err != nil {
		return program{}, err
	}
	if code, ok := fields["code"]; ok {
		return found(fields["reasoning"], codeIn(code))
	}
	if p, ok := readProgramObject(reply); ok {
		return found(p.reasoning, p.code)
	}
	switch blocks := codeBlocks(reply); len(blocks) {
	case 0:
		return program{}, errors.New("the reply has no program; put it under " + marker("code"))
	case 1:
		before, _, _ := strings.Cut(reply, "```")
		return found(strings.TrimSpace(before), blocks[0])
	default:
		return program{}, errors.New("the reply has several programs; put the one to run under " + marker("code"))
	}
}

func found(reasoning, code string) (program, error) {
	if strings.TrimSpace(code) == "" {
		return program{}, errors.New("the program is empty")
	}
	return program{reasoning, code}, nil
}

func readProgramObject(reply string) (program, bool) {
	var p struct{ Reasoning, Code string }
	err := json.Unmarshal([]byte(unfence(strings.TrimSpace(reply))), &p)
	return program{p.Reasoning, p.Code}, err == nil && p.Code != ""
}

var codeFence = regexp.MustCompile("(?ms)^[ \t]*```[ \t]*([\\w+-]*)[^\n]*\n(.*?)\n?[ \t]*```[ \t]*$")

// codeIn takes a program out of the fence that most models put it in.
func codeIn(text string) string {
	if blocks := codeBlocks(text); len(blocks) == 1 && strings.HasPrefix(text, "```") {
		return blocks[0]
	}
	return text
}

// codeBlocks returns what stands in fences that may hold JavaScript.
func codeBlocks(text string) []string {
	var blocks []string
	for _, m := range codeFence.FindAllStringSubmatch(text, -1) {
		switch strings.ToLower(m[1]) {
		case "", "js", "javascript", "ts", "typescript", "mjs", "jsx":
			blocks = append(blocks, m[2])
		}
	}
	return blocks
}

// programReply is what the model is asked for: the next program.
type programReply struct {
	Reasoning string `json:"reasoning,omitempty" jsonschema:"description=what to do next and why; a sentence or two"`
	Code      string `json:"code" jsonschema:"description=the next JavaScript program; whole"`
}

var programQuestion = signature.Must(signature.New[struct{}, programReply](""))

// programSpec is the question for the next program of a task.
func programSpec(task *signature.Spec) *signature.Spec {
	return programQuestion.Spec().WithInstructions(task.Instructions())
}
