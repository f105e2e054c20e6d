// Package student simulates a language model that can be taught, a model that reflects on its mistakes, and tasks for
// both. It measures optimizers without a network: the student answers right where its prompt teaches it to, and
// plausibly wrong elsewhere.
//
// A request is a list of pieces such as "date 4 March 2025", and the answer converts each piece. How the pieces of a
// kind are converted is a [Skill]. The student has a skill from the beginning in a part of the cases; it learns it
// from a sentence in the system prompt, or from demos that apply it. The replies depend on nothing but the
// prompt, so equal prompts have equal replies, and every change of a prompt changes some of them.
//
// [Claims] is a pipeline and [Ledger] is an agent. Their students learn at the same rates.
package student

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/llmtest"
)

// A Task is a kind of question, with the steps that answer it. Each step is asked by one predictor.
type Task struct {
	Name  string
	Steps []Step
	// Notes means that the feedback states the rules that a request needs.
	Notes bool
}

// A Step converts the pieces of one field into another field.
type Step struct {
	Input, Output string
	Instructions  string // at the beginning
	Skills        []Skill
	KeepKinds     bool // the output has the kind before each value, for the next step
}

// A Skill is how the pieces of one kind are converted.
type Skill struct {
	Kind string
	Form string // a regular expression for the values
	// Rule is a sentence that teaches the skill. Every sentence with all Keys does. Without keys, nothing teaches
	// the skill.
	Rule string
	Keys []string
	// Alone is how often the student converts a piece right without being taught.
	Alone float64

	Make         func(*rand.Rand) string // makes a value; used in the first step
	Right, Wrong func(value string) string
}

// How often the student uses what its prompt teaches.
const (
	obeys  = 0.98 // a rule in the instructions
	copies = 0.97 // any number of demos
	second = 0.5  // what each further demo leaves to learn
)

// Model returns the student.
func (t *Task) Model() llms.Model {
	return llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
		for i := range t.Steps {
			if s := &t.Steps[i]; strings.Contains(r.Last(), marker(s.Input)) {
				answer := s.answer(r, lm.Rollout(ctx))
				return llmtest.Reply{Text: marker(s.Output) + "\n" + answer + "\n\n" + marker("completed")}, nil
			}
		}
		return llmtest.Reply{Text: "I do not understand the question."}, nil
	})
}

// answer converts the pieces of the question.
func (s *Step) answer(r llmtest.Request, rollout int) string {
	var prompt strings.Builder
	var instructions string
	learned := map[string]int{}
	for i, m := range r.Messages[:len(r.Messages)-1] {
		text := textOf(m)
		prompt.WriteString(text + "\x00")
		switch {
		case m.Role == llms.ChatMessageTypeSystem:
			instructions = text
		case m.Role == llms.ChatMessageTypeHuman && i+1 < len(r.Messages):
			s.learn(learned, value(text, s.Input), value(textOf(r.Messages[i+1]), s.Output))
		}
	}
	fmt.Fprint(&prompt, rollout) // a repetition has another reply
	question := value(r.Last(), s.Input)
	return s.convert(question, func(k *Skill, piece string) bool {
		return chance(prompt.String(), question, piece, s.Output) < k.skilled(instructions, learned[k.Kind])
	})
}

// skilled returns how often a piece is converted right.
func (k *Skill) skilled(instructions string, demos int) float64 {
	p := k.Alone
	switch {
	case len(k.Keys) == 0:
		return p
	case demos < 0:
		p *= math.Pow(second, float64(-demos))
	default:
		p += (copies - p) * (1 - math.Pow(second, float64(demos)))
	}
	if k.stated(instructions) {
		p = max(p, obeys)
	}
	return p
}

// learn counts for each kind the demos that apply the skill, less those that contradict it.
func (s *Step) learn(learned map[string]int, question, answer string) {
	outputs := strings.Split(answer, separator)
	for i, piece := range strings.Split(question, separator) {
		kind, input, _ := strings.Cut(piece, " ")
		k := s.skill(kind)
		switch {
		case k == nil || i >= len(outputs):
		case outputs[i] == s.output(k, k.Right(input)):
			learned[kind]++
		default:
			learned[kind]--
		}
	}
}

// convert converts the pieces of a question; right decides which of them succeed.
func (s *Step) convert(question string, right func(k *Skill, piece string) bool) string {
	var outputs []string
	for piece := range strings.SplitSeq(question, separator) {
		kind, input, _ := strings.Cut(piece, " ")
		k := s.skill(kind)
		switch {
		case k == nil:
			outputs = append(outputs, piece)
		case right(k, piece):
			outputs = append(outputs, s.output(k, k.Right(input)))
		default:
			outputs = append(outputs, s.output(k, k.Wrong(input)))
		}
	}
	return strings.Join(outputs, separator)
}

// separator stands between pieces.
const separator = "; "

func (s *Step) output(k *Skill, value string) string {
	if s.KeepKinds {
		return k.Kind + " " + value
	}
	return value
}

func (s *Step) skill(kind string) *Skill {
	i := slices.IndexFunc(s.Skills, func(k Skill) bool { return k.Kind == kind })
	if i < 0 {
		return nil
	}
	return &s.Skills[i]
}

var sentenceEnd = regexp.MustCompile(`[.\n]`)

// stated reports whether a sentence of a text teaches the skill.
func (k *Skill) stated(text string) bool {
	if len(k.Keys) == 0 {
		return false
	}
	return slices.ContainsFunc(sentenceEnd.Split(strings.ToLower(text), -1), func(sentence string) bool {
		return !slices.ContainsFunc(k.Keys, func(key string) bool { return !strings.Contains(sentence, key) })
	})
}

func marker(name string) string { return "[[ ## " + name + " ## ]]" }

// value returns the text of a field in a message.
func value(message, field string) string {
	_, rest, _ := strings.Cut(message, marker(field)+"\n")
	text, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(text)
}

func textOf(m llms.MessageContent) string {
	var b strings.Builder
	for _, part := range m.Parts {
		if t, ok := part.(llms.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

// chance returns a number from 0 to 1 that depends only on the texts.
func chance(texts ...string) float64 {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}
