package optimize_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/optimize"
)

// proposing accepts candidates with the given instructions.
func proposing(path string, instructions ...string) optimize.Optimizer {
	return optimizerFunc(func(ctx context.Context, t *optimize.Task) error {
		for _, text := range instructions {
			c := t.New(t.Start(), "proposing")
			s := c.Predictors[path]
			s.Instructions = text
			c.Predictors[path] = s
			if err := t.Accept(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestRules(t *testing.T) {
	t.Parallel()
	o := optimize.Options{Keep: []string{"Name the number."}, MaxInstructions: 40}
	for text, want := range map[string]string{
		"Name the number. Use sevenths.":                 "",
		"Use sevenths.":                                  `lack "Name the number.", which Options.Keep requires`,
		"Name the number. Use sevenths, whatever it is.": "have 46 characters; Options.MaxInstructions is 40",
		" ": "are empty",
		"Name the number. Use sevenths. " + strings.Repeat("é", 9):   "",
		"Name the number. Use sevenths. " + strings.Repeat("é", 10):  "have 41 characters",
		"Name the number. Use sevenths. " + strings.Repeat("é", 100): "have 131 characters",
	} {
		r, err := optimize.Run(t.Context(), newStudent(), proposing("Predictor", text), numbersData(), right, &o)
		switch {
		case want == "" && (err != nil || r.Best.Score != 1 || r.Module.Predictor.Spec.Instructions() != text):
			t.Errorf("%q: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), "the instructions of Predictor "+want)):
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	by := optimizerFunc(func(_ context.Context, task *optimize.Task) error {
		want := "- If the current instructions contain the following text, the new ones must contain it unchanged: " +
			"Name the number.\n- The instructions must have at most 40 characters.\n"
		if got := task.Rules(); got != want {
			t.Errorf("got %q", got)
		}
		return nil
	})
	if _, err := optimize.Run(t.Context(), newStudent(), by, numbersData(), right, &o); err != nil {
		t.Fatal(err)
	}
}

func TestFrozen(t *testing.T) {
	t.Parallel()
	all := letters(40)
	d := optimize.Data[letter, response]{Train: all[:20], Val: all[20:]}
	for path, want := range map[string]string{
		"Sort":  `candidate "proposing" changes Sort, which is frozen`,
		"Other": `candidate "proposing" has a state for "Other", which is not a predictor`,
		"Reply": "<nil>",
	} {
		_, err := optimize.Run(t.Context(), newDesk(), proposing(path, "Do better."), d, sameText,
			&optimize.Options{Frozen: []string{"Sort"}})
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Instructions that repeat examples are flagged.
func TestCopies(t *testing.T) {
	t.Parallel()
	all := letters(40)
	all[2].In.Body = "c letter in which a customer asks for the return of her money"
	d := optimize.Data[letter, response]{Train: all[:20], Val: all[20:]}
	texts := []string{
		"Reply to the letter.",
		"If it is a “Letter in which a customer asks for the return of” anything, reply.",
		"For h letter 7 the answer is: on h. For u letter 20, think.",
	}
	r, err := optimize.Run(t.Context(), newDesk(), proposing("Reply", texts...), d, sameText, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"[]", "[]", `[the instructions of Reply copy example "2" of Train]`,
		`[the instructions of Reply copy example "7" of Train]`,
	} {
		if got := fmt.Sprint(r.Candidates[i].Flags); got != want {
			t.Errorf("candidate %d: got %s, want %s", i, got, want)
		}
	}
	if len(r.Warnings) != 3 {
		t.Errorf("warnings: %q", r.Warnings)
	}
}

func TestKeepTooLong(t *testing.T) {
	t.Parallel()
	_, err := optimize.Run(t.Context(), newStudent(), proposing("Predictor"), numbersData(), right,
		&optimize.Options{Keep: []string{"Name the number."}, MaxInstructions: 15})
	want := "optimize: Options.Keep has a text of 16 characters, but Options.MaxInstructions is 15"
	if fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Instructions that are too long already are a warning: only shorter ones are accepted.
func TestMaxInstructions(t *testing.T) {
	t.Parallel()
	for most, warns := range map[int]bool{15: true, 16: false, 0: false} {
		r := run(t, proposing("Predictor", "sevenths"), &optimize.Options{MaxInstructions: most})
		want := "the instructions of Predictor have 16 characters already; new ones must be shorter, since " +
			"Options.MaxInstructions is 15"
		if slices.Contains(r.Warnings, want) != warns || r.Best.Score != 1 {
			t.Errorf("%d: scored %v, warnings: %q", most, r.Best.Score, r.Warnings)
		}
	}
}

// A reflection model that says nothing, or the same again, ends nothing.
func TestReflection(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "Name the number."} {
		advisor := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
			return llmtest.Reply{Text: text}, nil
		})
		by := optimizerFunc(func(ctx context.Context, task *optimize.Task) error {
			got, err := task.Ask(ctx, "Write instructions.")
			if err != nil || got != text {
				t.Errorf("got %q, %v", got, err)
			}
			if got == "" {
				return nil
			}
			return proposing("Predictor", got, got).Optimize(ctx, task)
		})
		r := run(t, by, &optimize.Options{Reflection: advisor})
		if len(r.Candidates) != 1 || r.Spent.ReflectionCalls != 1 || r.Spent.StudentCalls != 20 {
			t.Errorf("%d candidates, spent %v", len(r.Candidates), r.Spent)
		}
		if text == "" && !strings.HasPrefix(fmt.Sprint(r.Warnings), "[the reflection model gave no answer") {
			t.Errorf("warnings: %q", r.Warnings)
		}
	}
}

// Models that a metric asks are counted and recorded as well.
func TestMetricCalls(t *testing.T) {
	t.Parallel()
	dir, asked := t.TempDir(), 0
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		asked++
		return reply("text", "good"), nil
	})
	critic := module.NewPredict(spelled, model, nil)
	metric := func(
		ctx context.Context, e evaluate.Example[question, answer], _ *module.Prediction[answer],
	) (module.Score, error) {
		pred, err := critic.Run(ctx, e.In)
		if err != nil {
			return module.Score{}, err
		}
		return module.Score{Value: float64(len(pred.Output.Text)) / 8}, nil
	}
	for range 2 {
		r, err := optimize.Run(t.Context(), newStudent(), optimize.LabeledFewShot{}, numbersData(), metric,
			&optimize.Options{Dir: dir, Workers: 1})
		if err != nil || r.Spent.MetricCalls != 40 || r.Spent.StudentCalls != 40 || asked != 40 || r.Best.ID != 0 {
			t.Errorf("spent %v, %d calls, %v", r.Spent, asked, err)
		}
	}
}
