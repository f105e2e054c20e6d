package module

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/signature/schema"
)

// untyped are the values of a module without Go types.
type untyped = signature.Values

// untypedPredict is the module that asks a predictor whatever it is for.
func untypedPredict(p *Predictor) (*Predict[untyped, untyped], error) {
	if err := p.usable(); err != nil {
		return nil, err
	}
	sig, err := signature.Typed[untyped, untyped](p.Spec)
	return &Predict[untyped, untyped]{Predictor: p, signature: sig}, err
}

// newAdvisor makes the question what the predictors of a module should do better.
func newAdvisor(m any) *Predictor {
	var parts strings.Builder
	var advice signature.Values
	for path, p := range Predictors(m) {
		advice = append(advice, signature.Value{Name: path, JSON: json.RawMessage(`{"type": "string"}`)})
		parts.WriteString(prompt.Part(path, p.Spec))
	}
	return &Predictor{Spec: adviceSpec(advice), Briefing: prompt.Parts + parts.String()}
}

// adviceSpec is the signature of advice to parts of the given names.
func adviceSpec(parts signature.Values) *signature.Spec {
	text := json.RawMessage(`{"type": "string"}`)
	list := json.RawMessage(`{"type": "array", "items": {"type": "object", "required": ["module", "question", "reply"],
		"properties": {"module": {"type": "string"}, "question": {"type": "string"}, "reply": {"type": "string"}}}}`)
	spec, err := signature.NewSpec(prompt.Advise, []signature.Field{
		field("input", text, "what the program was given", true),
		field("calls", list, "the questions to its parts and their replies, in order", true),
		field("output", text, "what the program returned", true),
		field("criterion", text, "what makes a good output", false),
		field("score", text, "the score of the output", true),
	}, []signature.Field{
		field("discussion", text, "what went wrong, and where", true),
		field("advice", adviceSchema(parts), "for each part", true),
	})
	if err != nil {
		panic(err) // the names and schemas are ours
	}
	return spec
}

func adviceSchema(parts signature.Values) json.RawMessage {
	names := []string{}
	for _, p := range parts {
		names = append(names, p.Name)
	}
	raw, err := json.Marshal(map[string]any{
		"type": "object", "properties": parts, "required": names, "additionalProperties": false,
	})
	if err != nil {
		panic(err) // texts always encode
	}
	return raw
}

// field makes a field of a schema of ours.
func field(name string, raw json.RawMessage, description string, required bool) signature.Field {
	s, err := schema.Compile(raw)
	if err != nil {
		panic(err)
	}
	return signature.Field{Name: name, Description: description, Schema: s, Required: required}
}

// occasion is what an advisor is shown.
type occasion struct {
	Input     string `json:"input"`
	Calls     []call `json:"calls"`
	Output    string `json:"output"`
	Criterion string `json:"criterion,omitempty"`
	Score     string `json:"score"`
}

func (o occasion) values() signature.Values {
	var v signature.Values
	raw, err := json.Marshal(o)
	if err == nil {
		err = v.UnmarshalJSON(raw)
	}
	if err != nil {
		panic(err) // texts always encode
	}
	return v
}

// hintsIn returns the advice that there is.
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
		hints[path] = prompt.Advice(prompt.Cut(strings.TrimSpace(advice), maxAdvice))
	}
	return hints, nil
}

// call is one request to a model, and its reply.
type call struct {
	Module   string `json:"module"` // the path of the Predictor
	Question string `json:"question"`
	Reply    string `json:"reply"`
}

// How much of the calls an advisor is shown, in bytes, and of its advice a part.
const (
	maxNotes  = 64_000
	minNote   = 200 // of each text; rather, calls are left out
	maxAdvice = prompt.MaxText / 2
)

// exchanges are what models were asked in a run and the runs within it, and what they
// replied, as far as it may be shown: the fewer they are the more of each, and of too many
// the first and the last. The paths are those that the advisor knows.
func (t Trajectory) exchanges(paths map[string]string) []call {
	steps := t.allSteps()
	slices.SortStableFunc(steps, func(a, b Step) int { return a.Began.Compare(b.Began) })
	list := make([]call, len(steps))
	for i, s := range steps {
		list[i] = call{cmp.Or(paths[s.Predictor], s.Predictor), lastText(s.Prompt), s.Reply}
	}
	if most := maxNotes / (2 * minNote); len(list) > most {
		list = slices.Delete(list, most/2, len(list)-most/2)
	}
	for i := range list {
		share := min(maxNotes/(2*len(list)), prompt.MaxText)
		list[i].Question, list[i].Reply = prompt.Cut(list[i].Question, share), prompt.Cut(list[i].Reply, share)
	}
	return list
}

// allSteps are the steps of a run, and then of those within it.
func (t Trajectory) allSteps() []Step {
	steps := slices.Clone(t.Steps)
	for _, run := range t.Runs {
		steps = append(steps, run.allSteps()...)
	}
	return steps
}

// lastText is the text of the last message of a prompt.
func lastText(prompt []llms.MessageContent) string {
	if len(prompt) == 0 {
		return ""
	}
	return textOf(prompt[len(prompt)-1])
}
