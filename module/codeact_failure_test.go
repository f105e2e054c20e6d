package module_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// programmers returns the modules that write programs.
var programmers = map[string]func(llms.Model, module.Sandbox, *module.Options) module.Module[orders, sum]{
	"CodeAct": func(m llms.Model, box module.Sandbox, o *module.Options) module.Module[orders, sum] {
		return module.NewCodeAct(adding, m, box, nil, o)
	},
	"ProgramOfThought": func(m llms.Model, box module.Sandbox, o *module.Options) module.Module[orders, sum] {
		return module.NewProgramOfThought(adding, m, box, o)
	},
}

// Errors of the model that do not go away end the run with what was done.
func TestCodeActErrors(t *testing.T) {
	t.Parallel()
	down := errors.New("503: overloaded")
	one := "```js\nlimit\n```"
	for _, c := range []struct {
		name    string
		replies []utterance
		steps   int
		is      func(error) bool
	}{
		{"model error", []utterance{{text: one}, {err: down}}, 2, func(err error) bool { return errors.Is(err, down) }},
		{"refusal", []utterance{{text: one}, {stop: "content_filter"}}, 2, func(err error) bool {
			var e *models.Error
			return errors.As(err, &e) && e.Kind == models.KindRefused
		}},
		{"cut off", []utterance{{text: "```js\nlimit", stop: "length"}}, 3, usedUp},
		{"nothing said", []utterance{{stop: "length"}}, 1, func(err error) bool {
			return err.Error() == "module: no answer after 1 step: the model's reply was cut off before its answer "+
				"began; allow it more tokens"
		}},
		{"garbage", []utterance{{text: "\xff\x00```js"}}, 3, usedUp},
		{"empty", []utterance{{}}, 3, usedUp},
		{"third call", []utterance{{text: one}}, 3, func(err error) bool { return errors.Is(err, budget.ErrSpent) }},
	} {
		for name, programmer := range programmers {
			t.Run(c.name+" of "+name, func(t *testing.T) {
				t.Parallel()
				third := c.name == "third call"
				limits := budget.Limits{Calls: 3}
				if third {
					limits.Calls = 2
				}
				ctx, model := budget.With(t.Context(), limits), script(c.replies...)
				o := &module.Options{MaxIters: 2, Extract: third}
				pred, err := programmer(model, inProcess(t), o).Run(ctx, anything)
				var part *module.IncompleteError
				if pred != nil || !errors.As(err, &part) || !c.is(err) || len(part.Trajectory.Steps) != c.steps {
					t.Errorf("got %v, %v", pred, err)
				}
			})
		}
	}
}

func usedUp(err error) bool { return errors.Is(err, module.ErrMaxIters) }

// utterance is a reply of a model, or another behavior.
type utterance struct {
	text, stop string
	err        error
}

// script returns a model that gives the replies in order and repeats the last one.
func script(replies ...utterance) llms.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		next := replies[min(len(r.Messages)/2, len(replies))-1]
		return llmtest.Reply{Text: next.text, StopReason: next.stop}, next.err
	})
}

// A run ends with its context while a program runs, and while the model is called for a program or for the extracted
// answer.
func TestCodeActCancelled(t *testing.T) {
	t.Parallel()
	for name, programmer := range programmers {
		for where, at := range map[string]int{"asking": 1, "asking again": 2, "extracting": 3, "running": 0} {
			t.Run(name+" "+where, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				model := llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
					if r.N == at {
						cancel()
						<-ctx.Done()
					}
					if at == 0 {
						return llmtest.Reply{Text: "```js\nawait sleep(100000)\n```"}, nil
					}
					return llmtest.Reply{Text: "```js\nlimit\n```"}, nil
				})
				o := &module.Options{MaxIters: 2, Extract: true, OnEvent: func(_ context.Context, e event.Event) {
					if _, started := e.(event.ProgramStart); started && at == 0 {
						cancel()
					}
				}}
				pred, err := programmer(model, inProcess(t), o).Run(ctx, anything)
				var part *module.IncompleteError
				if pred != nil || !errors.Is(err, context.Canceled) || !errors.As(err, &part) {
					t.Fatalf("got %v, %v", pred, err)
				}
				if steps := max(
					at,
					1,
				); len(part.Trajectory.Steps) != steps ||
					part.Trajectory.Steps[steps-1].Extracted != (at == 3) {
					t.Errorf("the steps are %+v", part.Trajectory.Steps)
				}
			})
		}
	}
}

// An extracted answer is a separate step, which is marked.
func TestCodeActExtract(t *testing.T) {
	t.Parallel()
	for name, programmer := range programmers {
		var ended []bool
		o := &module.Options{MaxIters: 1, Extract: true, OnEvent: func(_ context.Context, e event.Event) {
			switch e.(type) {
			case event.ProgramEnd:
				ended = append(ended, true)
			case event.RunEnd:
				ended = append(ended, false)
			}
		}}
		model := llmtest.New("```js\nlimit\n```", `{"total": 7}`)
		pred, err := programmer(model, inProcess(t), o).Run(t.Context(), anything)
		if err != nil || pred.Output.Total != 7 {
			t.Fatalf("%s: %v, %v", name, pred, err)
		}
		steps := pred.Trajectory.Steps
		if len(steps) != 2 || steps[0].Extracted || !steps[1].Extracted || steps[1].Outcome != nil {
			t.Errorf("%s: the steps are %+v", name, steps)
		}
		if fmt.Sprint(ended) != "[true false]" {
			t.Errorf("%s: one program ended before the answer; the events were %v", name, ended)
		}
		if usage := pred.Trajectory.Usage(); usage.Calls != 2 {
			t.Errorf("%s: %+v", name, usage)
		}
	}
}

// The system prompt is the same in every step and run, whatever the inputs are. Everything that depends on the inputs
// follows it.
func TestStaticPromptOfPrograms(t *testing.T) {
	t.Parallel()
	sig := signature.Must(signature.New[haystack, sum]("Find it."))
	box := inProcess(t)
	var system string
	for run, in := range []haystack{{Text: "a"}, {Text: strings.Repeat("b", 100_000)}, {Rows: make([]machine, 10_000)}} {
		model := llmtest.New("```js\n1\n```", submit1)
		mustRun(t, module.NewProgramOfThought(sig, model, box, nil), in)
		for step, r := range model.Requests() {
			text := fmt.Sprint(r.Messages[0])
			if system == "" {
				system = text
			}
			if r.Messages[0].Role != llms.ChatMessageTypeSystem || text != system {
				t.Errorf("run %d, step %d has a different prompt", run+1, step+1)
			}
		}
	}
}

// growing is a sandbox whose programs return the same amount in every step.
type growing struct{}

// Run implements [module.Sandbox].
func (growing) Run(context.Context, sandbox.Program) (*sandbox.Outcome, error) {
	return &sandbox.Outcome{Value: json.RawMessage(`"` + strings.Repeat("x", 1000) + `"`)}, nil
}

// What a step adds to the conversation does not depend on the number of steps.
func TestPromptGrowsLinearly(t *testing.T) {
	t.Parallel()
	const steps = 20
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: fmt.Sprintf("```js\n%04d\n```", r.N)}, nil
	})
	_, err := module.NewCodeAct(adding, model, growing{}, nil, &module.Options{MaxIters: steps}).Run(t.Context(), anything)
	if !errors.Is(err, module.ErrMaxIters) {
		t.Fatal(err)
	}
	var sizes, added []int
	for _, r := range model.Requests() {
		sizes = append(sizes, len(r.Text()))
	}
	for i := range sizes[1:] {
		added = append(added, sizes[i+1]-sizes[i])
	}
	if len(sizes) != steps {
		t.Fatalf("%d steps", len(sizes))
	}
	for i, n := range added[:steps-2] {
		if n > added[0] {
			t.Errorf("step %d added %d bytes, the first %d", i+1, n, added[0])
		}
	}
	if n := added[steps-2]; n > added[0]+100 { // it tells the model that it is the last one
		t.Errorf("the last step added %d bytes, the first %d", n, added[0])
	}
}

// echoing is a sandbox that returns each program's input as its answer, after a failure.
type echoing struct{}

// Run implements [module.Sandbox].
func (echoing) Run(_ context.Context, p sandbox.Program) (*sandbox.Outcome, error) {
	if strings.Contains(p.Source, "wrong") {
		return &sandbox.Outcome{
			Failure: &sandbox.Failure{Finding: sandbox.Finding{Kind: sandbox.KindThrown, Message: "wrong"}},
		}, nil
	}
	limit, _ := p.Inputs["limit"].(json.RawMessage)
	return &sandbox.Outcome{Value: json.RawMessage(`{"total":` + string(limit) + `}`), Submitted: true}, nil
}

// A thousand concurrent runs of one module do not affect each other.
func TestThousandRuns(t *testing.T) {
	t.Parallel()
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{
			Text: map[bool]string{true: "```js\nwrong\n```", false: "```js\nright\n```"}[len(r.Messages) == 2],
		}, nil
	})
	for name, programmer := range programmers {
		m := programmer(model, echoing{}, &module.Options{OnEvent: func(context.Context, event.Event) {}})
		var wg sync.WaitGroup
		for i := range 1000 {
			wg.Go(func() {
				pred, err := m.Run(t.Context(), orders{Limit: i + 1})
				if err != nil || pred.Output.Total != i+1 || len(pred.Trajectory.Steps) != 2 {
					t.Errorf("%s, run %d: %+v, %v", name, i, pred, err)
				}
			})
		}
		wg.Wait()
	}
}

// A run that is cancelled during a tool call does not wait for the call longer than the sandbox does, and records the
// call.
func TestCancelledInTool(t *testing.T) {
	t.Parallel()
	unhurried(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		set := toolSet(t, tools.Func("wait", "", func(ctx context.Context, _ struct{}) (int, error) {
			cancel()
			<-ctx.Done()
			return 0, ctx.Err()
		}, nil))
		model := llmtest.New("```js\nawait wait({})\n```")
		_, err := module.NewCodeAct(adding, model, inProcess(t), set, &module.Options{Extract: true}).Run(ctx, anything)
		var part *module.IncompleteError
		if !errors.As(err, &part) || !errors.Is(err, context.Canceled) || len(part.Trajectory.Calls) != 1 ||
			len(model.Requests()) != 1 {
			t.Errorf("got %v", err)
		}
	})
}

// The events name the module, in a stream as well.
func TestProgramOfThoughtStreams(t *testing.T) {
	t.Parallel()
	model := llmtest.New("```js\n({total: limit})\n```")
	stream := module.Start(t.Context(), module.NewProgramOfThought(adding, model, inProcess(t), nil), orders{Limit: 4})
	var told []string
	for e, err := range stream.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if name := e.From().Module; name != "ProgramOfThought" {
			t.Errorf("%T is of %s", e, name)
		}
		if _, delta := e.(event.TextDelta); !delta {
			told = append(told, fmt.Sprintf("%T", e))
		}
	}
	if want := "[event.RunStart event.ModelRequest event.ModelResponse event.ProgramStart event.ProgramEnd " +
		"event.RunEnd]"; fmt.Sprint(
		told,
	) != want {
		t.Errorf("got %s, want %s", told, want)
	}
	if pred, err := stream.Result(); err != nil || pred.Output.Total != 4 {
		t.Errorf("got %v, %v", pred, err)
	}
}
