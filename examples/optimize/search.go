package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/writ-go/writ/examples/internal/show"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/optimize"
	"golang.org/x/term"
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
func (c *command) measure(ctx context.Context) error {
	if _, err := c.keep(c.program); err != nil {
		return err
	}
	report, err := c.evaluate(ctx, "-dev", c.program, c.data.dev)
	switch {
	case err != nil:
		return err
	case c.asJSON:
		return json.NewEncoder(c.stdout).Encode(report)
	}
	_, err = fmt.Fprintln(c.stdout, report)
	return err
}

// evaluate scores a program. With -dir, results that it has are not computed again.
func (c *command) evaluate(ctx context.Context, what string, p program, examples []example) (*evaluate.Report, error) {
	o := &evaluate.Options{
		Workers: c.workers, Progress: c.stderr, DropTrajectories: true, MaxErrors: max(2, len(examples)/10),
	}
	if c.dir != "" {
		about := sha256.New()
		if err := module.Save(about, p); err != nil {
			return nil, err
		}
		fmt.Fprintln(about, c.model, c.metric, examples)
		o.Results = filepath.Join(c.dir, fmt.Sprintf("results-%.8x.jsonl", about.Sum(nil)))
	}
	fmt.Fprintf(c.stderr, "%s:\n", what)
	report, err := evaluate.Evaluate(ctx, p, examples, c.score, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return report, nil
}

// improve runs the search, between two evaluations of the test set.
func (c *command) improve(ctx context.Context) error {
	before, err := c.evaluate(ctx, "-test before the search", c.program, c.data.test)
	if err != nil {
		return err
	}
	bar := newBar(c.stderr, c.calls)
	result, err := optimize.Run(module.Observe(ctx, bar.observe), c.program, optimizers[c.optimizer],
		optimize.Data[values, values]{Train: c.data.train, Val: c.data.dev}, c.score, &optimize.Options{
			Budget: optimize.Budget{StudentCalls: c.calls, ReflectionCalls: (c.calls + 3) / 4},
			Seed:   c.seed, Workers: c.workers, Dir: c.dir, Reflection: c.reflector, Progress: bar,
		})
	fmt.Fprint(bar, "") // removes it
	if err != nil {
		return err
	}
	improved := result.Module
	if c.optimizer == "ensemble" {
		improved = optimize.NewEnsemble(result.Top(3))
	}
	var after *evaluate.Report
	state, err := c.keep(improved) // before the test, which may fail
	if err == nil {
		after, err = c.evaluate(ctx, "-test after the search", improved, c.data.test)
	}
	switch {
	case err != nil:
	case c.asJSON:
		return json.NewEncoder(c.stdout).Encode(summary{
			before.Score.Mean, after.Score.Mean, result.Spent.StudentCalls, result.Spent.ReflectionCalls, state,
		})
	default:
		err = c.show(result, before, after)
	}
	if c.save == "" {
		fmt.Fprintf(show.Writer(c.stderr), "The improved program:\n%s\n", state)
	}
	return err
}

// keep returns the state of a program, after it wrote it to -save.
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

// summary is what -json prints. The scores are those of the test set, the calls those of the search.
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

// bar shows how many replies a search has received, on the last line of a terminal. What is written to it replaces that
// line. Elsewhere there is no bar.
type bar struct {
	io.Writer
	most    int // 0 is no limit
	replies atomic.Int64
	clear   string // clears the line of a terminal
}

func newBar(w io.Writer, most int) *bar {
	b := &bar{Writer: w, most: most}
	if w == os.Stderr && term.IsTerminal(int(os.Stderr.Fd())) {
		b.clear = "\r\x1b[K"
	}
	return b
}

// observe counts replies.
func (b *bar) observe(_ context.Context, e module.Event) {
	if _, is := e.(module.ModelResponse); is && b.clear != "" {
		const width = 30
		n := int(b.replies.Add(1))
		done := width * min(n, b.most) / max(b.most, 1)
		fmt.Fprintf(b, "[%s%s] calls: %d", strings.Repeat("#", done), strings.Repeat(".", width-done), n)
	}
}

// Write replaces the bar by a text, and names in it by flags.
func (b *bar) Write(text []byte) (int, error) {
	_, err := io.WriteString(b.Writer, b.clear+flagNames.Replace(string(text)))
	return len(text), err
}
