package student

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/signature"
)

type (
	request struct {
		Request string `json:"request"`
	}
	answer struct {
		Answer string `json:"answer"`
	}
)

// asked returns the part of 300 rows that the student answers right.
func asked(t *testing.T, task *Task, teach func(*module.Predictor, *Step)) float64 {
	t.Helper()
	right := 0
	rows := task.Rows(7, 300)
	sig := signature.Must(signature.New[request, answer](task.Steps[0].Instructions))
	first := module.NewPredict(sig, task.Model(), nil)
	teach(first.Predictor, &task.Steps[0])
	for _, row := range rows {
		pred, err := first.Run(t.Context(), request{row.Request})
		if err != nil {
			t.Fatal(err)
		}
		if pred.Output.Answer == row.Answer {
			right++
		}
	}
	return float64(right) / float64(len(rows))
}

func withInstructions(p *module.Predictor, s *Step) {
	var rules []string
	for _, k := range s.Skills {
		rules = append(rules, k.Rule)
	}
	p.Spec = p.Spec.WithInstructions(strings.Join(rules, "\n"))
}

// withDemos adds demos whose answers are those of the rows that shift places later.
func withDemos(t *Task, shift int) func(*module.Predictor, *Step) {
	return func(p *module.Predictor, _ *Step) {
		rows := t.Rows(8, 12)
		for i, row := range rows {
			p.Demos = append(p.Demos, demo(row.Request, rows[(i+shift)%len(rows)].Answer))
		}
	}
}

func demo(request, answer string) module.Demo {
	value := func(name, text string) signature.Values {
		return signature.Values{{Name: name, JSON: fmt.Appendf(nil, "%q", text)}}
	}
	return module.Demo{Inputs: value("request", request), Outputs: value("answer", answer)}
}

func TestStudentLearns(t *testing.T) {
	t.Parallel()
	for _, task := range Tasks() {
		if len(task.Steps) > 1 {
			continue
		}
		t.Run(task.Name, func(t *testing.T) {
			t.Parallel()
			before := asked(t, task, func(*module.Predictor, *Step) {})
			told := asked(t, task, withInstructions)
			shown := asked(t, task, withDemos(task, 0))
			misled := asked(t, task, withDemos(task, 1))
			t.Logf("before %.2f, with instructions %.2f, with demos %.2f, with wrong demos %.2f", before, told, shown, misled)
			if before < 0.3 || before > 0.5 {
				t.Errorf("%.2f are right without help, want about 0.4", before)
			}
			if task.Name == "products" {
				if max(told, shown)-before > 0.08 || before-misled > 0.08 {
					t.Error("the prompt makes a difference")
				}
				return
			}
			if told < 0.8 || shown < 0.7 || misled > before {
				t.Error("want much better with instructions and with demos, and no better with wrong demos")
			}
		})
	}
}

func TestReflectionKnowsOnlyItsPrompt(t *testing.T) {
	t.Parallel()
	rules := func(task *Task, prompt string) (found []string) {
		reply, err := llms.GenerateFromSinglePrompt(context.Background(), task.Reflection(), prompt)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range task.Steps[0].Skills {
			if k.stated(reply) {
				found = append(found, k.Kind)
			}
		}
		return found
	}
	task := records()
	if got := rules(task, "Write better instructions for: Convert the record."); len(got) > 0 {
		t.Errorf("the reflection model knows %v", got)
	}
	stated := "Feedback: Write each size in meters. Price: the currency first."
	if got := rules(task, stated); slices.Contains(got, "date") || len(got) == 0 {
		t.Errorf("the reflection model found %v", got)
	}
	var pairs string
	for _, row := range task.Rows(1, 20) {
		pairs += row.Request + " is " + row.Answer + "\n"
	}
	if got := rules(task, pairs); len(got) < 2 || len(got) == len(task.Steps[0].Skills) {
		t.Errorf("from 20 examples, the reflection model found %v, want some of the rules", got)
	}
}

func TestRowsOfTwoSteps(t *testing.T) {
	t.Parallel()
	for _, row := range orders().Rows(1, 50) {
		if !strings.Contains(row.Answer, "DT ") && strings.Contains(row.Request, "date ") {
			t.Errorf("%s: %s", row.Request, row.Answer)
		}
	}
	if a, b := orders().Rows(3, 20), orders().Rows(3, 20); !slices.Equal(a, b) {
		t.Error("the same seed makes other rows")
	}
}
