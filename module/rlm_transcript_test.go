package module_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
)

func init() {
	scenarios["rlm letters"] = runRLM(module.RLMOptions{})
	scenarios["rlm poor"] = runRLM(module.RLMOptions{MaxCalls: 3, MaxTokens: 700})
	scenarios["rlm deep"] = runRLM(module.RLMOptions{Depth: 2})
}

// mail is more text than the context of a model holds.
type mail struct {
	Question string   `json:"question"`
	Letters  []string `json:"letters"`
}

type writers struct {
	Writers []string `json:"writers" jsonschema:"minItems=1"`
}

func pile() mail {
	m := mail{Question: "Who wrote?"}
	for i, name := range []string{"Mole", "Rat", "Toad", "Badger"} {
		m.Letters = append(
			m.Letters,
			fmt.Sprintf("Letter %d. %sYours, %s", i+1, strings.Repeat("It rained again, and nobody came. ", 100), name),
		)
	}
	return m
}

var signed = regexp.MustCompile(`Yours, (\w+)`)

// reader replies with who signed a letter, except for illegible ones. It works out a task with a program.
func reader() *llmtest.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		m := signed.FindStringSubmatch(r.Last())
		switch {
		case strings.Contains(r.Text(), "declare function submit"):
			return llmtest.Reply{
				Text: fence(
					`submit({reply: (await Promise.all(context.map(letter => llm(prompt + "\n\n" + letter)))).join(", ")})`,
				),
			}, nil
		case strings.Contains(r.Last(), "in blue"):
			return llmtest.Reply{}, errors.New("503 try later")
		case m == nil:
			return llmtest.Reply{Text: "NONE"}, nil
		}
		return llmtest.Reply{Text: m[1]}, nil
	})
}

func runRLM(o module.RLMOptions) func(*testing.T, *setup) string {
	return func(t *testing.T, s *setup) string {
		sub := reader()
		o := o
		o.Sub, o.MaxIters = sub, s.steps
		sig := signature.Must(signature.New[mail, writers]("Answer the question."))
		pred, err := module.NewRLM(sig, s.model, s.box(t), s.handlers.set(t), &o).Run(t.Context(), pile())
		return withoutPrompts(show(t, pred, err)) + askedOf(sub) + spentBy(pred, err)
	}
}

// withoutPrompts omits most of the recorded prompts.
func withoutPrompts(text string) string {
	return regexp.MustCompile(`(llm\(\{"prompt":".{60}).*?(\\n)?("\}\))`).ReplaceAllString(text, "$1…$3")
}

// askedOf lists the prompts in alphabetical order.
func askedOf(model *llmtest.Model) string {
	var list []string
	for _, r := range model.Requests() {
		last, _ := json.Marshal(r.Last())
		list = append(list, fmt.Sprintf("%.70s…\n", last))
	}
	slices.Sort(list)
	if len(list) == 0 {
		return ""
	}
	return "--- sub-calls ---\n" + strings.Join(list, "")
}

func spentBy[Out any](pred *module.Prediction[Out], err error) string {
	t := module.Trajectory{}
	if part, ok := errors.AsType[*module.IncompleteError](err); ok {
		t = part.Trajectory
	} else if pred != nil {
		t = pred.Trajectory
	}
	return fmt.Sprintf("--- spent ---\n%d calls of %d, %d attempts\n", t.Spent.Total().Calls, t.Usage().Calls, len(t.Runs))
}
