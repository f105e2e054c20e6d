package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

func open(t testing.TB) *sandbox.Sandbox {
	t.Helper()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	return box
}

func TestNewSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{second(agent.New(nil, &agent.Options{Sandbox: open(t)})),
			"agent: the model is missing; open one with models.Open, or pass a langchaingo model"},
		{second(agent.New(llmtest.New(), nil)),
			"agent: Options.Sandbox is not set; create one with sandbox.New, and close it when done"},
		{second(agent.New(llmtest.New(), &agent.Options{})),
			"agent: Options.Sandbox is not set; create one with sandbox.New, and close it when done"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("got %v, want %s", c.err, c.want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestRun(t *testing.T) {
	t.Parallel()
	model := llmtest.New("```js\nsubmit({answer: task + '!'})\n```")
	bot, err := agent.New(model, &agent.Options{Sandbox: open(t), Instructions: "Shout."})
	if err != nil {
		t.Fatal(err)
	}
	pred, err := bot.Run(t.Context(), agent.Task{Task: "hello"})
	if err != nil || pred.Output.Answer != "hello!" || len(pred.Trajectory.Steps) != 1 ||
		pred.Trajectory.Module != "Agent" {
		t.Fatalf("got %+v, %v", pred, err)
	}
	if prompt := model.Requests()[0].Text(); !strings.Contains(prompt, "Shout.") || !strings.Contains(prompt, "hello") {
		t.Errorf("the prompt does not contain the instructions or the task:\n%s", prompt)
	}
}

func TestNoTask(t *testing.T) {
	t.Parallel()
	model := llmtest.New()
	bot, err := agent.New(model, &agent.Options{Sandbox: open(t)})
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range []string{"", " \n\t"} {
		if answer, err := bot.Run(t.Context(), agent.Task{Task: task}); answer != nil || !errors.Is(err, agent.ErrNoTask) {
			t.Errorf("got %v, %v", answer, err)
		}
	}
	if len(model.Requests()) > 0 {
		t.Error("the model was called")
	}
}

func TestIncomplete(t *testing.T) {
	t.Parallel()
	overloaded := errors.New("503: overloaded")
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{},
			overloaded
	})
	bot, err := agent.New(model, &agent.Options{Sandbox: open(t), Module: module.Options{MaxIters: 2}})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := bot.Run(t.Context(), agent.Task{Task: "hello"})
	var incomplete *module.IncompleteError
	if answer != nil || !errors.Is(err, overloaded) || !errors.As(err, &incomplete) ||
		incomplete.Trajectory.Usage().Calls != 1 {
		t.Errorf("got %v, %v", answer, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := bot.Run(ctx, agent.Task{Task: "hello"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := (&agent.Agent{}).Run(t.Context(), agent.Task{Task: "hello"}); err == nil {
		t.Error("the zero Agent can run")
	}
}

// An agent is a module: it can be evaluated, tried several times, made a part of other modules and
// observed, and its Predictor can be found.
func TestAgentIsAModule(t *testing.T) {
	t.Parallel()
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: fmt.Sprintf("```js\nsubmit({answer: task + ' %d'})\n```", r.N)}, nil
	})
	bot, err := agent.New(model, &agent.Options{Sandbox: open(t)})
	if err != nil {
		t.Fatal(err)
	}
	for path, p := range module.Predictors(bot) {
		if path != "Module" || p != bot.Module.Predictor {
			t.Errorf("there is a predictor %s", path)
		}
	}
	longest := func(_ context.Context, _ agent.Task, pred *module.Prediction[agent.Answer]) (module.Score, error) {
		return module.Score{Value: float64(len(pred.Output.Answer))}, nil
	}
	best := module.NewBestOfN(bot, 2, longest, 100, nil)
	pred, err := best.Run(t.Context(), agent.Task{Task: "hello"})
	if err != nil || !strings.HasPrefix(pred.Output.Answer, "hello ") || len(model.Requests()) != 2 {
		t.Errorf("got %v, %v", pred, err)
	}
	events := 0
	stream := module.Start(t.Context(), bot, agent.Task{Task: "hello"})
	for _, err := range stream.Events() {
		if err != nil {
			t.Fatal(err)
		}
		events++
	}
	if pred, err = stream.Result(); err != nil || !strings.HasPrefix(pred.Output.Answer, "hello ") || events == 0 {
		t.Errorf("got %v, %v after %d events", pred, err, events)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	model := llmtest.New("```js\nsubmit({answer: history[0].task + history[0].answer + task})\n```")
	bot, err := agent.New(model, &agent.Options{Sandbox: open(t)})
	if err != nil {
		t.Fatal(err)
	}
	turn, err := bot.Turn(agent.Task{Task: "a"}, agent.Answer{Answer: "b"})
	if err != nil {
		t.Fatal(err)
	}
	pred, err := bot.Run(t.Context(), agent.Task{Task: "c", History: signature.History{turn}})
	if err != nil || pred.Output.Answer != "abc" {
		t.Fatalf("got %v, %v", pred, err)
	}
	want := "Programs also have the constant history, an array with the earlier turns.\n\n[[ ## history ## ]]\n" + `[{"task":"a","answer":"b"}]` + "\n\n[[ ## task ## ]]\nc\n\n" +
		"Reply with a sentence or two, then one ```js block, and nothing after it."
	if got := model.Requests()[0].Last(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := (*agent.Agent)(nil).Turn(agent.Task{}, agent.Answer{}); err == nil {
		t.Error("nil makes a turn")
	}
}

type file struct {
	Name string `json:"name"`
}

// An agent does a task with a program that calls the tools it is given. The model here is scripted;
// pass a real one, such as one that models.Open returns.
func Example() {
	size := func(_ context.Context, f file) (int, error) { return 100 * len(f.Name), nil }
	set, err := tools.NewSet(context.Background(),
		tools.Func("size", "Returns the size of a file in bytes.", size, &tools.Hints{Class: tools.Read}))
	if err != nil {
		log.Fatal(err)
	}
	box, err := sandbox.NewInProcess(nil) // sandbox.New for programs of real models
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	model := llmtest.New("```js\n" +
		"const [a, b] = await Promise.all([size({name: 'a.txt'}), size({name: 'bb.txt'})]);\n" +
		"submit({answer: `The files have ${a + b} bytes.`})\n```")
	bot, err := agent.New(model, &agent.Options{Sandbox: box, Tools: set})
	if err != nil {
		log.Fatal(err)
	}
	pred, err := bot.Run(context.Background(), agent.Task{Task: "How big are a.txt and bb.txt together?"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pred.Output.Answer)
	fmt.Println(len(pred.Trajectory.Calls), "calls in", pred.Trajectory.Usage().Calls, "step")
	// Output:
	// The files have 1100 bytes.
	// 2 calls in 1 step
}
