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
	"github.com/writ-go/writ/tools"
)

func open(t *testing.T) *sandbox.Sandbox {
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
		{second(agent.New(nil, &agent.Options{Sandbox: open(t)})), "agent: there is no model; open one by models.Open, or pass one of langchaingo's"},
		{second(agent.New(llmtest.New(), nil)), "agent: Options.Sandbox is missing; open one by sandbox.New and close it in the end"},
		{second(agent.New(llmtest.New(), &agent.Options{})), "agent: Options.Sandbox is missing; open one by sandbox.New and close it in the end"},
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
	answer, err := bot.Run(t.Context(), "hello")
	if err != nil || answer.Text != "hello!" || len(answer.Trajectory.Steps) != 1 {
		t.Fatalf("got %+v, %v", answer, err)
	}
	if prompt := model.Requests()[0].Text(); !strings.Contains(prompt, "Shout.") || !strings.Contains(prompt, "hello") {
		t.Errorf("the prompt lacks the instructions or the task:\n%s", prompt)
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
		if answer, err := bot.Run(t.Context(), task); answer != nil || !errors.Is(err, agent.ErrNoTask) {
			t.Errorf("got %v, %v", answer, err)
		}
	}
	if len(model.Requests()) > 0 {
		t.Error("the model was asked")
	}
}

func TestIncomplete(t *testing.T) {
	t.Parallel()
	overloaded := errors.New("503: overloaded")
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) { return llmtest.Reply{}, overloaded })
	bot, err := agent.New(model, &agent.Options{Sandbox: open(t), Module: module.Options{MaxIters: 2}})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := bot.Run(t.Context(), "hello")
	var incomplete *module.IncompleteError
	if answer != nil || !errors.Is(err, overloaded) || !errors.As(err, &incomplete) || incomplete.Trajectory.Usage().Calls != 1 {
		t.Errorf("got %v, %v", answer, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := bot.Run(ctx, "hello"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := (&agent.Agent{}).Run(t.Context(), "hello"); err == nil {
		t.Error("the zero Agent runs")
	}
}

type file struct {
	Name string `json:"name"`
}

// An agent does a task by a program over the tools it is given. The model here
// is scripted; pass one of langchaingo's.
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
	answer, err := bot.Run(context.Background(), "How big are a.txt and bb.txt together?")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Text)
	fmt.Println(len(answer.Trajectory.Calls), "calls in", answer.Trajectory.Usage().Calls, "step")
	// Output:
	// The files have 1100 bytes.
	// 2 calls in 1 step
}
