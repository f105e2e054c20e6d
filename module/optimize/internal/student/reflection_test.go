package student

import (
	"context"
	"regexp"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/llmtest"
)

// Reflection returns a model that writes instructions. It knows of the task only what the prompt shows it: the rules
// that the prompt states, and, less surely, the rules that pairs of inputs and right outputs in the prompt
// have in common. If it finds none, it gives well-meant advice that teaches nothing.
func (t *Task) Reflection() llms.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		prompt := r.Last()
		text := strings.Join(append([]string{"Convert every part of the input."}, t.found(prompt)...), "\n- ")
		if strings.Contains(prompt, "<instructions>") {
			text = "<instructions>\n" + text + "\n</instructions>"
		}
		return llmtest.Reply{Text: text}, nil
	})
}

// How often the reflection model writes down a rule that the prompt states, and one that 2, 3, 4 or more
// examples show.
const states = 0.85

var induces = [...]float64{0, 0, 0.4, 0.6, 0.8}

var advice = []string{"Think step by step.", "Be careful and precise.", "Check the result before you reply.",
	"Keep the order of the parts.", "Do not add anything that was not asked for.", "Use the usual notation."}

// found returns the rules that a prompt shows.
func (t *Task) found(prompt string) []string {
	var rules []string
	for i := range t.Steps {
		for j := range t.Steps[i].Skills {
			k := &t.Steps[i].Skills[j]
			sure := induces[min(k.shown(prompt), len(induces)-1)]
			if k.stated(prompt) {
				sure = states
			}
			if len(k.Keys) > 0 && chance("reflection", prompt, k.Rule) < sure {
				rules = append(rules, k.Rule)
			}
		}
	}
	if len(rules) == 0 {
		rules = append(rules, advice[int(chance("advice", prompt)*float64(len(advice)))])
	}
	return rules
}

// shown counts the pieces in a prompt that stand there with their right conversion.
func (k *Skill) shown(prompt string) int {
	if len(k.Keys) == 0 {
		return 0
	}
	pieces := regexp.MustCompile(`\b` + k.Kind + ` (` + k.Form + `)`)
	pairs := map[string]bool{}
	for _, match := range pieces.FindAllStringSubmatch(prompt, -1) {
		if right := k.Right(match[1]); right != match[1] && strings.Contains(prompt, right) {
			pairs[match[1]] = true
		}
	}
	return len(pairs)
}
