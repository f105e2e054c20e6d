package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/optimize"
)

var optimizers = map[string]optimize.Optimizer{
	"labeled":   optimize.LabeledFewShot{},
	"bootstrap": optimize.BootstrapFewShot{},
	"random":    optimize.BootstrapRandomSearch{},
	"knn":       optimize.KNNFewShot{},
	"gepa":      optimize.GEPA{},
	"mipro":     optimize.MIPROv2{},
	"ensemble":  optimize.BootstrapRandomSearch{}, // the best three vote
}

func optimizerNames() string { return strings.Join(slices.Sorted(maps.Keys(optimizers)), ", ") }

// measure scores the examples of -dev, and saves the program as it is.
func (c *config) measure(ctx context.Context) error {
	if _, err := keep(c.program, c.save); err != nil {
		return err
	}
	report, err := c.score(ctx, c.program, c.examples.dev, "")
	switch {
	case err != nil:
		return err
	case c.asJSON:
		return json.NewEncoder(c.stdout).Encode(report)
	}
	_, err = fmt.Fprintln(c.stdout, report)
	return err
}

func (c *config) score(
	ctx context.Context, m module.Module[values, values], examples []example, results string,
) (*evaluate.Report, error) {
	return evaluate.Evaluate(ctx, m, examples, c.examples.metric, &evaluate.Options{
		Workers: c.workers, Progress: c.stderr, Results: results, DropTrajectories: true, MaxErrors: max(10, len(examples)/2),
	})
}

// scoreTest scores the test set before or after the search. With -dir, a search that continues does not score it again.
func (c *config) scoreTest(
	ctx context.Context, when string, m module.Module[values, values], state []byte,
) (*evaluate.Report, error) {
	fmt.Fprintf(c.stderr, "the test set %s the search:\n", when)
	results := ""
	if c.dir != "" {
		if err := os.MkdirAll(c.dir, 0o700); err != nil {
			return nil, err
		}
		about := sha256.Sum256(fmt.Appendf(state, "\n%s\n%s\n%s", c.model, c.metric, c.test))
		results = filepath.Join(c.dir, fmt.Sprintf("test-%s-%.8x.jsonl", when, about))
	}
	report, err := c.score(ctx, m, c.examples.test, results)
	if err != nil {
		return nil, fmt.Errorf("the test set %s the search: %w", when, err)
	}
	return report, nil
}

// improve runs the search, between two evaluations of the test set.
func (c *config) improve(ctx context.Context) error {
	by, found := optimizers[c.optimizer]
	if !found {
		return fmt.Errorf("no optimizer is named %q; use one of %s", c.optimizer, optimizerNames())
	}
	if c.reflectionModel == nil && (c.optimizer == "gepa" || c.optimizer == "mipro") {
		return errors.New("-reflection is missing: " + c.optimizer + " needs a model that writes instructions")
	}
	given, err := keep(c.program, "")
	if err != nil {
		return err
	}
	before, err := c.scoreTest(ctx, "before", c.program, given)
	if err != nil {
		return err
	}
	bar := newBar(c.stderr, c.calls)
	result, err := optimize.Run(module.Observe(ctx, bar.observe), c.program, by,
		optimize.Data[values, values]{Train: c.examples.train, Val: c.examples.dev}, c.examples.metric, &optimize.Options{
			Budget: optimize.Budget{StudentCalls: c.calls}, Seed: c.seed, Workers: c.workers, Dir: c.dir,
			Reflection: c.reflectionModel, Progress: bar,
		})
	if err != nil {
		return err
	}
	bar.end()
	var improved module.Module[values, values] = result.Module
	if c.optimizer == "ensemble" {
		improved = optimize.NewEnsemble(result.Top(3))
	}
	state, err := keep(improved, c.save) // so that it is not lost if its test fails
	if err != nil {
		return err
	}
	after, err := c.scoreTest(ctx, "after", improved, state)
	if err != nil {
		return err
	}
	if c.asJSON {
		spent := result.Spent
		return json.NewEncoder(c.stdout).Encode(summary{
			before.Score.Mean, after.Score.Mean, spent.StudentCalls, spent.ReflectionCalls, state,
		})
	}
	return c.show(result, before, after)
}

// keep returns the state of a module, and writes it to a file if there is a name.
func keep(m module.Module[values, values], file string) (json.RawMessage, error) {
	var state bytes.Buffer
	err := module.Save(&state, m)
	if err == nil && file != "" {
		err = os.WriteFile(file, state.Bytes(), 0o600)
	}
	return state.Bytes(), err
}

// summary is what -json prints. The scores are those of the test set, the calls those of the search.
type summary struct {
	Before          float64         `json:"before"`
	After           float64         `json:"after"`
	StudentCalls    int             `json:"student_calls"`
	ReflectionCalls int             `json:"reflection_calls"`
	Program         json.RawMessage `json:"program"`
}

// show prints the best candidates and the comparison for people.
func (c *config) show(result *optimize.Result[*predict], before, after *evaluate.Report) error {
	comparison, err := evaluate.Compare(before, after)
	if err != nil {
		return err
	}
	best := slices.Clone(result.Candidates)
	slices.SortStableFunc(best, func(a, b optimize.Candidate) int { return cmp.Compare(b.Score, a.Score) })
	var text bytes.Buffer
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "The best candidates, by their score on -dev, which chose them:")
	for _, one := range best[:min(len(best), 3)] {
		fmt.Fprintf(t, "%d\t%.3f\t%s\t%s\n", one.ID, one.Score, one.By, contents(one))
	}
	t.Flush() //nolint:errcheck // a bytes.Buffer returns no errors
	fmt.Fprintf(&text, "\nThe examples of -test, before (A) and after (B):\n%s\n\nThe search used %s.\n",
		comparison, result.Spent)
	if c.save != "" {
		fmt.Fprintf(&text, "The program is in %s.\n", c.save)
	}
	_, err = c.stdout.Write(text.Bytes())
	return err
}

// contents says how much a candidate tells the model.
func contents(c optimize.Candidate) string {
	letters, demos := 0, 0
	for _, s := range c.Predictors {
		letters += len([]rune(s.Instructions))
		demos += len(s.Demos)
	}
	return fmt.Sprintf("%d characters of instructions, %d demos", letters, demos)
}
