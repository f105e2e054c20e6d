package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/writ-go/writ/agent/report"
	"github.com/writ-go/writ/examples/internal/show"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/optimize"
	"github.com/writ-go/writ/signature"
)

// run measures a program, or improves it.
func (c *command) run(ctx context.Context) error {
	sig, err := signature.Parse(c.signature, c.instructions)
	if err != nil {
		return err
	}
	model, err := c.openModel(c.model, student)
	if err != nil {
		return err
	}
	given := module.NewPredict(sig, model, nil)
	if c.load != "" {
		if err := loadFrom(c.load, given); err != nil {
			return err
		}
	}
	sets := map[string][]example{}
	for _, file := range []string{c.train, c.dev, c.test} {
		if file != "" {
			if sets[file], err = evaluate.ReadFile(file, sig, nil); err != nil {
				return err
			}
		}
	}
	if c.optimizer == "" {
		return c.measure(ctx, given, sets[c.dev])
	}
	return c.improve(ctx, given, sets[c.train], sets[c.dev], sets[c.test])
}

// loadFrom sets a program to a saved state.
func loadFrom(file string, p program) error {
	state, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	p.Predictor.PickDemos = optimize.Nearest(3, nil) // loading a result of knn requires PickDemos
	if module.Load(bytes.NewReader(state), p) == nil {
		return nil
	}
	p.Predictor.PickDemos = nil
	return module.Load(bytes.NewReader(state), p)
}

// measure scores the examples in -dev, and saves the program unchanged.
func (c *command) measure(ctx context.Context, p program, dev []example) error {
	if _, err := c.keep(p); err != nil {
		return err
	}
	result, err := c.evaluate(ctx, p, dev)
	if err == nil {
		err = show.File(c.report, func(w io.Writer) error { return report.WriteEvaluation(w, result, nil) })
	}
	switch {
	case err != nil:
		return err
	case c.asJSON:
		return json.NewEncoder(c.stdout).Encode(result)
	}
	_, err = fmt.Fprintln(c.stdout, result)
	return err
}

// improve runs the search, and scores the test set with the given program and with the improved one.
func (c *command) improve(ctx context.Context, given program, train, dev, test []example) error {
	reflector, err := c.openModel(c.reflection, reflection)
	if err != nil {
		return err
	}
	result, err := optimize.Run(ctx, given, optimizers[c.optimizer],
		optimize.Data[values, values]{Train: train, Val: dev}, metrics[c.metric], &optimize.Options{
			Budget: optimize.Budget{StudentCalls: c.calls, ReflectionCalls: (c.calls + 3) / 4},
			Seed:   c.seed, Workers: c.workers, Dir: c.dir, Reflection: reflector, Progress: c.stderr,
		})
	if result == nil {
		return err
	}
	page := func(w io.Writer) error { return report.WriteOptimization(w, result, nil) }
	err = errors.Join(err, show.File(c.report, page))
	state, keepErr := c.keep(result.Module)
	if err := errors.Join(err, keepErr); err != nil {
		return err
	}
	before, err := c.evaluate(ctx, given, test)
	if err != nil {
		return err
	}
	after, err := c.evaluate(ctx, result.Module, test)
	switch {
	case err != nil:
		return err
	case c.asJSON:
		return json.NewEncoder(c.stdout).Encode(summary{
			before.Score.Mean, after.Score.Mean, result.Spent.StudentCalls, result.Spent.ReflectionCalls, state,
		})
	}
	return c.show(result, before, after)
}

// evaluate scores a program. With -dir, it does not compute stored results again.
func (c *command) evaluate(ctx context.Context, p program, examples []example) (*evaluate.Report, error) {
	o := &evaluate.Options{Workers: c.workers, Progress: c.stderr, DropTrajectories: c.report == ""}
	if c.dir != "" {
		about := sha256.New()
		if err := module.Save(about, p); err != nil {
			return nil, err
		}
		fmt.Fprintln(about, c.model, c.metric, examples)
		o.Results = filepath.Join(c.dir, fmt.Sprintf("results-%.8x.jsonl", about.Sum(nil)))
	}
	return evaluate.Evaluate(ctx, p, examples, metrics[c.metric], o)
}

// keep writes a program's state to -save and returns it. If the file cannot be written, keep prints the state, because
// the search was expensive.
func (c *command) keep(p program) (json.RawMessage, error) {
	var state bytes.Buffer
	err := module.Save(&state, p)
	if err == nil && c.save != "" {
		if err = os.WriteFile(c.save, state.Bytes(), 0o600); err != nil {
			fmt.Fprintf(show.Writer(c.stderr), "The program:\n%s\n", &state)
		}
	}
	return state.Bytes(), err
}

// summary is what -json prints. The scores are for the test set, and the calls were made by the search.
type summary struct {
	Before          float64         `json:"before"`
	After           float64         `json:"after"`
	StudentCalls    int             `json:"student_calls"`
	ReflectionCalls int             `json:"reflection_calls"`
	Program         json.RawMessage `json:"program"`
}

// show prints the best candidates and the comparison for people.
func (c *command) show(result *optimize.Result[program], before, after *evaluate.Report) error {
	comparison, err := evaluate.Compare(before, after)
	if err != nil {
		return err
	}
	best := slices.Clone(result.Candidates)
	slices.SortStableFunc(best, func(a, b optimize.Candidate) int { return cmp.Compare(b.Score, a.Score) })
	text := "The best candidates, by their scores on -dev, which chose them:\n"
	for _, one := range best[:min(len(best), 3)] {
		text += fmt.Sprintf("%.3f  candidate %d (%s)\n", one.Score, one.ID, one.By)
	}
	text += fmt.Sprintf("\nThe examples of -test, before (A) and after (B):\n%s\n\nThe search used %s.\n",
		comparison, result.Spent)
	if c.save != "" {
		text += fmt.Sprintf("The program is in %s.\n", c.save)
	}
	_, err = io.WriteString(c.stdout, text)
	return err
}
