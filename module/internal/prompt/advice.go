package prompt

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/signature/schema"
)

// advise has the instructions for an advisor, a model that sees the calls made by a program whose output was not good
// enough.
var advise = unfolded(`
The output of a program that asks language models was judged not good enough. Find the part of the program that is
  to blame, and advise it what to do differently for the same question or a similar one.
A part sees only its own advice: no question, no reply, no advice to other parts. So be concrete: say in which case
  it goes wrong, what was wrong, and what to do instead. If a part is not to blame, leave its advice empty.`)

// Part describes part of the program to an advisor.
func Part(path string, spec *signature.Spec) string {
	if spec == nil {
		return "\n" + path + "\n"
	}
	text := fmt.Sprintf("\n%s\n- inputs: %s\n- outputs: %s\n",
		path, spec.InputSchema().TypeScript(nil), spec.OutputTypeScript())
	if task := strings.TrimSpace(spec.Instructions()); task != "" {
		text += "- instructions: " + strings.ReplaceAll(task, "\n", "\n  ") + "\n"
	}
	return text
}

// Parts is the heading above the parts.
const Parts = "The parts of the program:\n"

// Feedback returns the hint for another attempt, after an output that was not good enough.
func Feedback(output, feedback string) string {
	return "An earlier answer was not good enough:\n" + Cut(output, MaxText) + "\nHow to improve it:\n" + feedback
}

// AdviceSpec returns the signature for advice to a program, with an output for each of the program's parts.
func AdviceSpec(parts []string) *signature.Spec {
	text := json.RawMessage(`{"type": "string"}`)
	list := json.RawMessage(`{"type": "array", "items": {"type": "object", "required": ["module", "question", "reply"],
		"properties": {"module": {"type": "string"}, "question": {"type": "string"}, "reply": {"type": "string"}}}}`)
	var properties signature.Values
	for _, path := range parts {
		properties = append(properties, signature.Value{Name: path, JSON: text})
	}
	advice, err := json.Marshal(map[string]any{
		"type": "object", "properties": properties, "required": append([]string{}, parts...),
		"additionalProperties": false,
	})
	if err != nil {
		panic(err) // impossible: the names and the schemas are constant
	}
	spec, err := signature.NewSpec(advise, []signature.Field{
		field("input", text, "what the program was given", true),
		field("calls", list, "the questions to its parts and their replies, in order", true),
		field("output", text, "what the program returned", true),
		field("criterion", text, "what makes a good output", false),
		field("score", text, "the score of the output", true),
	}, []signature.Field{
		field("discussion", text, "what went wrong, and where", true),
		field("advice", advice, "for each part", true),
	})
	if err != nil {
		panic(err)
	}
	return spec
}

// field returns a field with one of this package's schemas.
func field(name string, raw json.RawMessage, description string, required bool) signature.Field {
	s, err := schema.Compile(raw)
	if err != nil {
		panic(err)
	}
	return signature.Field{Name: name, Description: description, Schema: s, Required: required}
}

// Judged is an attempt as an advisor sees it.
type Judged struct {
	Input     string       `json:"input"`
	Calls     []JudgedCall `json:"calls"`
	Output    string       `json:"output"`
	Criterion string       `json:"criterion,omitempty"`
	Score     string       `json:"score"`
}

// JudgedCall is one request to a model, and its reply.
type JudgedCall struct {
	Part     string `json:"module"` // the part's path
	Question string `json:"question"`
	Reply    string `json:"reply"`
}

// Limits, in bytes, of the calls in an advisor's prompt.
const (
	maxCalls = 64_000
	minCall  = 200 // bytes of each string; if there is less room, calls are left out
)

// CutCalls shortens calls so that they fit into an advisor's prompt. If there are too many, it keeps the first and the
// last ones.
func CutCalls(calls []JudgedCall) []JudgedCall {
	if limit := maxCalls / (2 * minCall); len(calls) > limit {
		calls = append(calls[:limit/2:limit/2], calls[len(calls)-limit/2:]...)
	}
	for i, c := range calls {
		share := min(maxCalls/(2*len(calls)), MaxText)
		calls[i].Question, calls[i].Reply = Cut(c.Question, share), Cut(c.Reply, share)
	}
	return calls
}

// Score describes a score and the score that is wanted.
func Score(score, threshold float64) string {
	if math.IsInf(threshold, 1) {
		return fmt.Sprintf("%g; the highest possible score is wanted", score)
	}
	return fmt.Sprintf("%g, but at least %g is wanted", score, threshold)
}

// Hints returns the advice in an advisor's outputs as hints for the parts. It leaves out blank advice.
func Hints(outputs signature.Values) (map[string]string, error) {
	raw, _ := outputs.Get("advice")
	var hints map[string]string
	if err := json.Unmarshal(raw, &hints); err != nil {
		return nil, fmt.Errorf("the advice: %w", err)
	}
	for path, advice := range hints {
		if strings.TrimSpace(advice) == "" {
			delete(hints, path)
			continue
		}
		hints[path] = "Advice from an earlier attempt:\n" + Cut(strings.TrimSpace(advice), MaxText/2)
	}
	return hints, nil
}

// AttemptsField returns the input with the answers that a model compares: a list of [Attempt].
func AttemptsField(name string) signature.Field {
	return field(name, json.RawMessage(`{"type": "array", "items": {"type": "object",
		"properties": {"reasoning": {"type": "string"}, "answer": {}}, "required": ["answer"]}}`),
		"earlier attempts at the same question; compare them, since any of them may be wrong", true)
}

// Attempt is an answer that a model compares with others.
type Attempt struct {
	Reasoning string `json:"reasoning,omitempty"`
	Answer    any    `json:"answer"`
}
