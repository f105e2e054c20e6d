package conversation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// Formatter writes questions and replies as messages.
type Formatter struct {
	Spec    *signature.Spec
	Adapter interface {
		Question(spec *signature.Spec, inputs signature.Values) string
		Answer(spec *signature.Spec, outputs signature.Values) string
	}
}

// Demo is an example question with its answer. See module.Demo.
type Demo struct {
	Inputs  signature.Values `json:"inputs"`
	Steps   []DemoStep       `json:"steps,omitempty"`
	Outputs signature.Values `json:"outputs"`
}

// DemoStep is a reply before the last one. See module.DemoStep.
type DemoStep struct {
	Outputs     signature.Values `json:"outputs"`
	Observation string           `json:"observation"`
}

// Check returns an error for invalid values in a demo. Values may be missing, such as the reasoning.
func (d Demo) Check(inputs, outputs []signature.Field) error {
	if err := checkValues(inputs, "input", d.Inputs); err != nil {
		return err
	}
	for _, s := range d.Steps {
		if err := checkValues(outputs, "output", s.Outputs); err != nil {
			return err
		}
	}
	return checkValues(outputs, "output", d.Outputs)
}

func checkValues(fields []signature.Field, side string, values signature.Values) error {
	for i, v := range values {
		named := func(f signature.Field) bool { return f.Name == v.Name }
		at := slices.IndexFunc(fields, named)
		if at < 0 {
			return fmt.Errorf("the signature has no %s %q", side, v.Name)
		}
		if _, twice := values[:i].Get(v.Name); twice {
			return fmt.Errorf("the %s %q is given twice", side, v.Name)
		}
		if findings := fields[at].Schema.Validate(v.JSON); findings != nil {
			return fmt.Errorf("the %s %q: %w", side, v.Name, &signature.InvalidError{Findings: findings})
		}
	}
	return nil
}

// Opening returns the first messages of a conversation: the system prompt, the demos, earlier turns, and the
// question. Messages that are the same for every question come first.
func (f Formatter) Opening(system string, demos []Demo, q Question, hint string) ([]Message, error) {
	list := make([]Message, 0, 2+2*len(demos)+2*len(q.History))
	list = append(list, System(system))
	demos = slices.Clip(demos)
	for _, turn := range q.History {
		inputs, outputs := Sides(f.Spec, turn)
		demos = append(demos, Demo{Inputs: inputs, Outputs: outputs})
	}
	for i, d := range demos {
		if note := q.LeftOut.note(); note != "" && i == len(demos)-len(q.History) {
			list = append(list, Human(note))
		}
		asked, err := NewQuestion(f.Spec, d.Inputs)
		if err != nil {
			return nil, err
		}
		list = Append(list, f.Question(asked, ""))
		for _, s := range d.Steps {
			list = append(list, f.Example(len(list), s.Outputs, s.Observation)...)
		}
		list = append(list, f.Example(len(list), d.Outputs, "")...)
	}
	if q.Past != nil {
		list = Append(list, q.Past.Messages(f)...)
	}
	return Append(list, f.Question(q, hint)), nil
}

// Example returns a reply with the outputs as the n-th message, and the observation on it, unless that is empty. A tool
// call is always followed by a result.
func (f Formatter) Example(n int, outputs signature.Values, observation string) []Message {
	if c, calls := f.Adapter.(*Calling); calls {
		return c.Example(n, outputs, observation)
	}
	list := []Message{Model(f.Adapter.Answer(f.Spec, outputs))}
	if observation != "" {
		list = append(list, Human(observation))
	}
	return list
}

// Question returns a question as a message.
func (f Formatter) Question(q Question, hint string) Message {
	text := f.Adapter.Question(f.Spec, q.Inputs)
	if q.Note != "" {
		text = q.Note + "\n\n" + text
	}
	if strings.TrimSpace(hint) != "" {
		text = hint + "\n\n" + text
	}
	m := Human(text)
	m.Parts = q.Parts
	return m
}
