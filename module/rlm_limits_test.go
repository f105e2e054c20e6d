package module_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
)

// Many prompts are answered in one call, in their order. If one fails, the others are not lost, and each is paid for
// once.
func TestRLMBatch(t *testing.T) {
	t.Parallel()
	sub := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.Last() == "down" {
			return llmtest.Reply{}, errors.New("503 try later")
		}
		return llmtest.Reply{Text: strings.TrimPrefix(r.Last(), "nothing") + "!"}, nil
	})
	m, _ := rlm(t, inProcess(t), sub, &module.RLMOptions{MaxCalls: 4, Concurrency: 1},
		`console.log(JSON.stringify([await llm(["a", "down", "b"]), await llm([])])); throw new Error("again")`,
		`console.log(JSON.stringify([await llm(["a", "c", "b", "d"]), await llm({prompt: ["a"]})])); submit({total: 1})`)
	pred := mustRun(t, m, book{"x"})
	for i, want := range []string{
		`[["a!",{"error":"the model cannot be reached at the moment"},"b!"],[]]`,
		`[["a!","c!","b!",{"error":"the budget allows no more than 4 model calls; go on without further calls"}],` +
			`["a!"]]`,
	} {
		if got := strings.TrimSpace(pred.Trajectory.Steps[i].Outcome.Stdout.Text); got != want {
			t.Errorf("program %d printed\n%s\nwant\n%s", i+1, got, want)
		}
	}
}

// The same prompt is sent once, and answers that are too long for a result are an error.
func TestRLMRepeatedPrompts(t *testing.T) {
	t.Parallel()
	sub := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: strings.Repeat("x", 32<<10)}, nil
	})
	m, model := rlm(t, inProcess(t), sub, nil,
		`const few = await llm(Array(40).fill("same")); few.length`,
		`const many = await llm(Array(10000).fill("same"))`,
		`submit({total: few.length})`)
	pred, err := m.Run(t.Context(), book{"x"})
	if err != nil || pred.Output.Total != 40 || len(sub.Requests()) != 1 {
		t.Fatalf("got %v, %v after %d calls", pred, err, len(sub.Requests()))
	}
	const told = "the answers have more than 8388608 bytes together; send fewer prompts at a time (answered " +
		"prompts are free)"
	if got := model.Requests()[2].Last(); !strings.Contains(got, told) {
		t.Errorf("told %s", got)
	}
}

// One call with many long prompts returns what a call for each prompt returns.
func TestRLMLongPromptsInOneCall(t *testing.T) {
	t.Parallel()
	sub := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		last := r.Last()
		return llmtest.Reply{Text: strings.Repeat(last[len(last)-10:], 500)}, nil
	})
	m, _ := rlm(t, openBox(t, sandbox.New, nil), sub, &module.RLMOptions{MaxCalls: 500},
		`const parts = Array.from({length: 500}, (_, i) => "x".repeat(10_000) + i);
const answers = await llm(parts), each = await Promise.all(parts.map(part => llm(part)));
submit({total: answers.filter((answer, i) => answer === each[i]).length})`)
	if pred := mustRun(t, m, book{"x"}); pred.Output.Total != 500 || len(sub.Requests()) != 500 {
		t.Errorf("%d answers are the same; %d requests", pred.Output.Total, len(sub.Requests()))
	}
}

// With the default limits of the sandbox, programs have time for all calls and room for their prompts. An empty reply
// is an empty text.
func TestRLMWorksWithTheDefaults(t *testing.T) {
	t.Parallel()
	box := openBox(t, sandbox.NewInProcess, &sandbox.Options{Limits: sandbox.Limits{Time: 50 * time.Millisecond}})
	sub := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		time.Sleep(100 * time.Millisecond) // longer than the time limit of a program
		return llmtest.Reply{Text: strings.Repeat(" ", min(len(r.Last()), 1))}, nil
	})
	m, _ := rlm(t, box, sub, nil, `const parts = Array.from({length: 20}, () => "x".repeat(100_000));
const answers = await Promise.all(parts.slice(0, 3).map(part => llm(part)));
const more = await llm(parts); submit({total: answers.concat(more).filter(a => a === "").length})`)
	pred, err := m.Run(t.Context(), book{"x"})
	if err != nil || pred.Output.Total != 23 {
		t.Fatalf("got %v, %v", pred, err)
	}
}

func TestRLMNeedsMemory(t *testing.T) {
	t.Parallel()
	box := openBox(t, sandbox.NewInProcess, &sandbox.Options{Limits: sandbox.Limits{Memory: 1 << 20}})
	m, model := rlm(t, box, llmtest.New(), nil)
	_, err := m.Run(t.Context(), book{"x"})
	const want = "module: an RLM keeps its inputs in the memory of its programs; the sandbox's Limits.Memory must be at " +
		"least 4 MiB"
	if wantError(t, err, want); len(model.Requests()) > 0 {
		t.Error("the model was called")
	}
}

// The call options apply only to the model that writes the programs.
func TestRLMCallOptions(t *testing.T) {
	t.Parallel()
	limit := []llms.CallOption{llms.WithMaxTokens(7)}
	model := llmtest.New(fence(`await rlm({prompt: "x", context: 1})`), fence(`submit({total: 1})`))
	sub := llmtest.New(fence(`submit({reply: await llm("x")})`), "y")
	m := module.NewRLM(reading, model, inProcess(t), nil, &module.RLMOptions{
		Options: module.Options{CallOptions: limit}, Sub: sub, Depth: 2,
	})
	mustRun(t, m, book{"x"})
	for want, asked := range map[int][]llmtest.Request{7: model.Requests(), 0: sub.Requests()} {
		if len(asked) != 2 {
			t.Errorf("%d questions, want 2", len(asked))
		}
		for _, r := range asked {
			if r.Options.MaxTokens != want {
				t.Errorf("a request has MaxTokens %d, want %d", r.Options.MaxTokens, want)
			}
		}
	}
}

// All predictors of an RLM can be found, copied and changed.
func TestRLMPredictors(t *testing.T) {
	t.Parallel()
	sub := echoes()
	m, _ := rlm(t, inProcess(t), sub, &module.RLMOptions{Depth: 2}, `await llm("x"); submit({total: 1})`)
	var paths []string
	for path := range module.Predictors(m) {
		paths = append(paths, path)
	}
	if want := []string{"Predictor", "Sub", "Nested", "Nested.Sub"}; !slices.Equal(paths, want) {
		t.Errorf("got %q, want %q", paths, want)
	}
	c, other := module.Clone(m), echoes()
	c.Sub.Model = other
	if _, err := c.Run(t.Context(), book{"x"}); err != nil || m.Sub.Model != sub {
		t.Fatal(err)
	}
	if len(sub.Requests()) != 0 || len(other.Requests()) != 1 {
		t.Errorf("%d and %d questions", len(sub.Requests()), len(other.Requests()))
	}
}
