package module

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/signature/schema"
)

// newAdvisor returns the question what the predictors of a module should do better.
func newAdvisor(m any) *Predictor {
	var parts strings.Builder
	var advice signature.Values
	for path, p := range Predictors(m) {
		advice = append(advice, signature.Value{Name: path, JSON: json.RawMessage(`{"type": "string"}`)})
		parts.WriteString(prompt.Part(path, p.Spec))
	}
	return &Predictor{Spec: adviceSpec(advice), Briefing: prompt.Parts + parts.String()}
}

// adviceSpec returns the signature of advice, with an output for each part.
func adviceSpec(parts signature.Values) *signature.Spec {
	text := json.RawMessage(`{"type": "string"}`)
	list := json.RawMessage(`{"type": "array", "items": {"type": "object", "required": ["module", "question", "reply"],
		"properties": {"module": {"type": "string"}, "question": {"type": "string"}, "reply": {"type": "string"}}}}`)
	names := []string{}
	for _, p := range parts {
		names = append(names, p.Name)
	}
	advice, err := json.Marshal(map[string]any{
		"type": "object", "properties": parts, "required": names, "additionalProperties": false,
	})
	if err != nil {
		panic(err) // the names and schemas are ours
	}
	spec, err := signature.NewSpec(prompt.Advise, []signature.Field{
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

// field returns a field with one of the schemas of this package.
func field(name string, raw json.RawMessage, description string, required bool) signature.Field {
	s, err := schema.Compile(raw)
	if err != nil {
		panic(err)
	}
	return signature.Field{Name: name, Description: description, Schema: s, Required: required}
}

// judged is an attempt that an advisor is shown.
type judged struct {
	Input     string `json:"input"`
	Calls     []call `json:"calls"`
	Output    string `json:"output"`
	Criterion string `json:"criterion,omitempty"`
	Score     string `json:"score"`
}

// call is one request to a model, and its reply.
type call struct {
	Module   string `json:"module"` // the path of the Predictor
	Question string `json:"question"`
	Reply    string `json:"reply"`
}

// hintsIn returns the advice to each part that is not blank.
func hintsIn(outputs signature.Values) (map[string]string, error) {
	raw, _ := outputs.Get("advice")
	var hints map[string]string
	if err := json.Unmarshal(raw, &hints); err != nil {
		return nil, fmt.Errorf("the advice: %w", err)
	}
	for path, advice := range hints {
		if blank(advice) {
			delete(hints, path)
			continue
		}
		hints[path] = prompt.Advice(advice)
	}
	return hints, nil
}

// Limits, in bytes, of what an advisor is shown of the calls.
const (
	maxCalls = 64_000
	minCall  = 200 // of each text; if there is less room, calls are left out
)

// exchanges returns the questions and the replies of a run and the runs within it. The more there are, the less
// is shown of each; of too many, only the first and the last. The advisor knows the predictors by the given paths.
func (t Trajectory) exchanges(paths map[string]string) []call {
	steps := t.allSteps()
	slices.SortStableFunc(steps, func(a, b Step) int { return a.Began.Compare(b.Began) })
	if most := maxCalls / (2 * minCall); len(steps) > most {
		steps = slices.Delete(steps, most/2, len(steps)-most/2)
	}
	list := make([]call, len(steps))
	for i, s := range steps {
		share := min(maxCalls/(2*len(list)), prompt.MaxText)
		list[i] = call{
			cmp.Or(paths[s.Predictor], s.Predictor), prompt.Cut(lm.LastText(s.Prompt), share), prompt.Cut(s.Reply, share),
		}
	}
	return list
}

// allSteps returns the steps of a run, and then those of the runs within it.
func (t Trajectory) allSteps() []Step {
	steps := slices.Clone(t.Steps)
	for _, run := range t.Runs {
		steps = append(steps, run.allSteps()...)
	}
	return steps
}
