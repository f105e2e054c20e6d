package module_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

type sum struct {
	Total int `json:"total"`
}

var (
	adding   = signature.Must(signature.New[orders, sum]("Add up."))
	submit1  = "```js\nsubmit({total: 1})\n```"
	anything = orders{Limit: 1}
)

func inProcess(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	return openBox(t, sandbox.NewInProcess, patiently(sandbox.Limits{}))
}

func toolSet(t *testing.T, sources ...tools.Source) *tools.Set {
	t.Helper()
	set, err := tools.NewSet(t.Context(), sources...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

const (
	noSignature = "module: the signature is missing; create one with signature.New"
	noModel     = "module: the model is missing; open one with models.Open, or pass a langchaingo model"
	noSandbox   = "module: the sandbox is missing; create one with sandbox.New, and close it when done"
)

// Run reports what is missing before the model is called.
func TestSetupErrors(t *testing.T) {
	t.Parallel()
	box, model := inProcess(t), llmtest.New()
	var noSig *signature.Signature[orders, sum]
	var zeroSig signature.Signature[orders, sum]
	var noBox *sandbox.Sandbox
	conflict := func(name string) *tools.Set {
		return toolSet(t, tools.Func(name, "", func(context.Context, struct{}) (int, error) { return 0, nil }, nil))
	}
	withoutSub := module.NewRLM(adding, model, box, nil, nil)
	withoutSub.Sub = nil
	for want, modules := range map[string][]module.Module[orders, sum]{
		noSignature: {
			module.NewPredict(noSig, model, nil), module.NewPredict(&zeroSig, model, nil),
			module.NewChainOfThought(noSig, model, nil), module.NewChainOfThought(&zeroSig, model, nil),
			module.NewReAct(noSig, model, nil, nil), module.NewReAct(&zeroSig, model, nil, nil),
			module.NewCodeAct(noSig, model, box, nil, nil), module.NewCodeAct(&zeroSig, model, box, nil, nil),
			module.NewProgramOfThought(noSig, model, box, nil), module.NewRLM(noSig, model, box, nil, nil),
			module.NewChat(noSig, model, box, nil, nil),
		},
		noModel: {
			module.NewPredict(adding, nil, nil), module.NewChainOfThought(adding, nil, nil),
			module.NewReAct(adding, nil, nil, nil), module.NewCodeAct(adding, nil, box, nil, nil),
			module.NewProgramOfThought(adding, nil, box, nil), module.NewRLM(adding, nil, box, nil, nil),
		},
		noSandbox: {
			module.NewCodeAct(adding, model, nil, nil, nil), module.NewCodeAct(adding, model, noBox, nil, nil),
			module.NewProgramOfThought(adding, model, nil, nil), module.NewRLM(adding, model, nil, nil, nil),
			module.NewRLM(adding, model, noBox, nil, nil), module.NewChat(adding, model, nil, nil, nil),
		},
		madeBy("Predict"):        {(*module.Predict[orders, sum])(nil), &module.Predict[orders, sum]{}},
		madeBy("ChainOfThought"): {(*module.ChainOfThought[orders, sum])(nil), &module.ChainOfThought[orders, sum]{}},
		madeBy("ReAct"):          {(*module.ReAct[orders, sum])(nil), &module.ReAct[orders, sum]{}},
		madeBy("CodeAct"):        {(*module.CodeAct[orders, sum])(nil), &module.CodeAct[orders, sum]{}},
		madeBy("ProgramOfThought"): {
			(*module.ProgramOfThought[orders, sum])(nil), &module.ProgramOfThought[orders, sum]{}},
		madeBy("RLM"):  {(*module.RLM[orders, sum])(nil), &module.RLM[orders, sum]{}},
		madeBy("Chat"): {(*module.Chat[orders, sum])(nil), &module.Chat[orders, sum]{}},
		"module: a Predictor is nil; create the module with its New function": {withoutSub},
		`module: the input "limit" has the same name as a tool or a namespace; rename one`: {
			module.NewCodeAct(adding, model, box, conflict("limit"), nil)},
		`module: cannot add the functions of an RLM to the tools: tools: tool "rlm": another tool already has that ` +
			`name; choose a different name`: {
			module.NewRLM(adding, model, box, conflict("rlm"), &module.RLMOptions{Depth: 2})},
	} {
		for _, m := range modules {
			wantError(t, second(m.Run(t.Context(), anything)), want)
		}
	}
	if n := len(model.Requests()); n > 0 {
		t.Errorf("the model was called %d times", n)
	}
}

func madeBy(kind string) string {
	return fmt.Sprintf("module: the %s is nil, or was not made by New%[1]s", kind)
}

// The names of some inputs are taken.
func TestNamesThatAreTaken(t *testing.T) {
	t.Parallel()
	type date struct {
		Date string `json:"Date"`
	}
	type function struct {
		LLM string `json:"llm"`
	}
	type output struct {
		Tool string `json:"tool"`
	}
	box, model := inProcess(t), llmtest.New()
	global := module.NewCodeAct(signature.Must(signature.New[date, sum]("")), model, box, nil, nil)
	wantError(t, second(global.Run(t.Context(), date{})),
		`module: the input "Date" has the name of a global that programs use; rename the input`)
	rlm := module.NewRLM(signature.Must(signature.New[function, sum]("")), model, box, nil, nil)
	const llmTaken = `module: the input "llm" has the same name as a tool or a namespace; rename one`
	wantError(t, second(rlm.Run(t.Context(), function{})), llmTaken)
	program := module.NewCodeAct(signature.Must(signature.New[function, sum]("")), model, box, nil, nil).Program(
		module.Script{Code: "submit(await llm('Guess.', {type: 'object'}))"})
	wantError(t, second(program.Run(t.Context(), function{})), llmTaken)
	wantError(t, second(module.Clone(program).Run(t.Context(), function{})), llmTaken)
	act := module.NewReAct(signature.Must(signature.New[output, sum]("")), model, nil, nil)
	wantError(t, second(act.Run(t.Context(), output{})),
		`module: the signature does not fit ReAct's outputs (thought, tool, args): signature: output field `+
			`"tool": an input field has the same name; rename one`)
}

func second[T any](_ T, err error) error { return err }

func TestInvalidInput(t *testing.T) {
	t.Parallel()
	model := llmtest.New()
	_, err := module.NewCodeAct(adding, model, inProcess(t), nil, nil).Run(t.Context(), orders{Limit: 0})
	var invalid *signature.InvalidError
	if !errors.As(err, &invalid) || errors.As(err, new(*module.IncompleteError)) {
		t.Errorf("got %v, want only an InvalidError", err)
	}
	for _, m := range []module.Module[orders, sum]{module.NewPredict(adding, model, nil),
		module.NewReAct(adding, model, nil, nil)} {
		_, err = m.Run(t.Context(), orders{Limit: 0})
		if !errors.As(err, &invalid) || len(model.Requests()) > 0 {
			t.Errorf("got %v, want an InvalidError before the model is called", err)
		}
	}
}

// The system prompt is the same in every step and run, so that providers can cache it.
func TestStaticPrompt(t *testing.T) {
	t.Parallel()
	set := toolSet(t, tools.Func("look", "Looks.", func(context.Context, struct{}) (int, error) { return 1, nil }, nil))
	box := inProcess(t)
	for name, c := range map[string]struct {
		look, submit string
		new          func(llms.Model) module.Module[orders, sum]
	}{
		"CodeAct": {fence("await look({})"), submit1,
			func(m llms.Model) module.Module[orders, sum] { return module.NewCodeAct(adding, m, box, set, nil) }},
		"ReAct": {action("look", `{}`), submits1,
			func(m llms.Model) module.Module[orders, sum] { return module.NewReAct(adding, m, set, nil) }},
	} {
		model := llmtest.New(c.look, c.submit, c.look, c.submit, c.submit)
		m := c.new(model)
		mustRun(t, m, orders{1})
		mustRun(t, m, orders{2})
		mustRun(t, c.new(model), anything)
		first := model.Requests()[0].Messages[0]
		for _, r := range model.Requests() {
			if fmt.Sprint(r.Messages[0]) != fmt.Sprint(first) || r.Messages[0].Role != llms.ChatMessageTypeSystem {
				t.Errorf("%s: request %d has a different system prompt", name, r.N)
			}
		}
	}
}

// The prompt reflects changes of the predictor's fields.
func TestChangedPredictor(t *testing.T) {
	t.Parallel()
	model := llmtest.New(`{"total": 1}`, `{"total": 1}`)
	p := module.NewPredict(adding, model, nil)
	for _, change := range []string{"", "Count twice."} {
		if change != "" {
			p.Predictor.Spec = p.Predictor.Spec.WithInstructions(change)
			p.Predictor.Briefing = "A dozen is twelve."
		}
		mustRun(t, p, anything)
	}
	if text := model.Requests()[1].Text(); !strings.Contains(text, "Count twice.") ||
		!strings.Contains(text, "A dozen is twelve.") {
		t.Errorf("the change is not in the prompt:\n%s", text)
	}
}

func TestModelOptions(t *testing.T) {
	t.Parallel()
	model := llmtest.New(`{"total": 1}`)
	o := &module.Options{CallOptions: []llms.CallOption{llms.WithTemperature(0.5)}}
	mustRun(t, module.NewPredict(adding, model, o), anything)
	if got := model.Requests()[0].Options.Temperature; got != 0.5 {
		t.Errorf("temperature %v", got)
	}
}

// The events of every step come in the same order, and each run ends once.
func TestEvents(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var got []string
	o := &module.Options{OnEvent: func(_ context.Context, e event.Event) {
		mu.Lock()
		defer mu.Unlock()
		switch e := e.(type) {
		case event.ModelRequest:
			got = append(got, fmt.Sprint(e.Step, " asked"))
		case event.ModelResponse:
			got = append(got, fmt.Sprint(e.Step, " replied"))
		case event.ProgramStart:
			got = append(got, fmt.Sprint(e.Step, " started"))
		case event.ToolCallEnd:
			got = append(got, fmt.Sprint(e.Step, " called ", e.Call.Tool))
		case event.ProgramEnd:
			got = append(got, fmt.Sprint(e.Step, " ended, observed: ", e.Observation != ""))
		}
	}}
	set := toolSet(
		t,
		tools.Func(
			"look",
			"",
			func(context.Context, struct{}) (int, error) { return 1, nil },
			&tools.Hints{Class: tools.Read},
		),
		tools.Func(
			"stop",
			"",
			func(context.Context, struct{}) (int, error) { return 0, tools.Fatal(errors.New("stop")) },
			nil,
		),
	)
	model := llmtest.New("no code", "```js\nawait look({}); submit({})\n```", submit1, "```js\nawait stop({})\n```")
	act := module.NewCodeAct(adding, model, inProcess(t), set, o)
	mustRun(t, act, anything)
	if _, err := act.Run(t.Context(), anything); err == nil {
		t.Fatal("the run was not stopped")
	}
	want := []string{
		"1 asked", "1 replied",
		"2 asked", "2 replied", "2 started", "2 called look", "2 ended, observed: true",
		"3 asked", "3 replied", "3 started", "3 ended, observed: false",
		"1 asked", "1 replied", "1 started", "1 called stop", "1 ended, observed: false",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// A run ends soon after its context, wherever it is, and the error has the calls.
func TestCancelled(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"model", "program", "tool"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			unhurried(t, func(t *testing.T) { cancelled(t, where) })
		})
	}
}

func cancelled(t *testing.T, where string) {
	ctx, cancel := context.WithCancel(t.Context())
	wait := func(ctx context.Context, _ struct{}) (int, error) {
		cancel()
		<-ctx.Done()
		return 0, ctx.Err()
	}
	program := map[string]string{
		"program": "await note({});\nawait sleep(1e9)",
		"tool":    "await note({});\nawait wait({})",
		"model":   "await note({})",
	}[where]
	model := llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if where == "model" && r.N == 2 {
			cancel()
			<-ctx.Done()
		}
		return llmtest.Reply{Text: "```js\n" + program + "\n```"}, nil
	})
	set := toolSet(t, tools.Func("wait", "", wait, nil),
		tools.Func("note", "", func(context.Context, struct{}) (int, error) { return 1, nil }, nil))
	o := &module.Options{OnEvent: func(_ context.Context, e event.Event) {
		if _, noted := e.(event.ToolCallEnd); noted && where == "program" {
			cancel()
		}
	}}
	pred, err := module.NewCodeAct(adding, model, inProcess(t), set, o).Run(ctx, anything)
	var incomplete *module.IncompleteError
	if pred != nil || !errors.Is(err, context.Canceled) || !errors.As(err, &incomplete) {
		t.Fatalf("got %v, %v", pred, err)
	}
	effects := incomplete.Trajectory.Calls
	if len(effects) == 0 || effects[0].Tool != "note" || effects[0].State != journal.StateOK {
		t.Errorf("effects: %+v", effects)
	}
}

// A module is safe for concurrent use and leaves no goroutine behind.
func TestConcurrentRuns(t *testing.T) {
	t.Parallel()
	double := func(_ context.Context, o orders) (int, error) { return 2 * o.Limit, nil }
	set := toolSet(t, tools.Func("double", "Doubles.", double, nil))
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if len(r.Messages) == 2 {
			return llmtest.Reply{Text: "```js\nawait double({limit}); null.x\n```"}, nil
		}
		return llmtest.Reply{Text: "```js\nsubmit({total: await double({limit})})\n```"}, nil
	})
	act := module.NewCodeAct(
		adding,
		model,
		inProcess(t),
		set,
		&module.Options{OnEvent: func(context.Context, event.Event) {}},
	)
	concurrently(t, func(ctx context.Context, i int) {
		pred, err := act.Run(ctx, orders{Limit: i + 1})
		if err != nil || pred.Output.Total != 2*(i+1) || len(pred.Trajectory.Calls) != 1 {
			t.Errorf("run %d: %+v, %v", i, pred, err)
		}
	})
}

// A foreign sandbox may be wrong in ways in which ours is not.
type brokenSandbox struct{}

// Run implements [module.Sandbox].
func (brokenSandbox) Run(context.Context, sandbox.Program) (*sandbox.Outcome, error) { return nil, nil }

func TestBrokenSandbox(t *testing.T) {
	t.Parallel()
	_, err := module.NewCodeAct(adding, llmtest.New(submit1), brokenSandbox{}, nil, nil).Run(t.Context(), anything)
	want := "module: no answer after 1 step: the sandbox returned neither an outcome nor an error"
	wantError(t, err, want)
}

// A sandbox that is closed during a model call ends the run.
func TestClosedSandbox(t *testing.T) {
	t.Parallel()
	box, err := sandbox.New(patiently(sandbox.Limits{}))
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: submit1}, box.Close()
	})
	_, err = module.NewCodeAct(adding, model, box, nil, nil).Run(t.Context(), anything)
	if !errors.As(err, new(*module.IncompleteError)) || !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestTrajectoryUsage(t *testing.T) {
	t.Parallel()
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: []string{"no", submit1}[r.N-1], InputTokens: 10 * r.N, OutputTokens: r.N}, nil
	})
	pred := mustRun(t, module.NewCodeAct(adding, model, inProcess(t), nil, nil), anything)
	if got, want := pred.Trajectory.Usage(), (event.Usage{Calls: 2, InputTokens: 30, OutputTokens: 3}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := string(pred.Trajectory.Answer()); got != `{"total":1}` {
		t.Errorf("answer %s", got)
	}
	if got := (&module.Trajectory{}).Answer(); got != nil {
		t.Errorf("got the answer %s from an empty trajectory", got)
	}
}

// The effects that the model is shown are bounded. Those answered from the record are not.
func TestManyEffects(t *testing.T) {
	t.Parallel()
	calls := 0
	set := toolSet(
		t,
		tools.Func("note", "", func(context.Context, orders) (int, error) { calls++; return calls, nil }, nil),
	)
	loop := "for (let i = 1; i <= 260; i++) await note({limit: i});\n"
	model := llmtest.New("```js\n"+loop+"null.x\n```", "```js\n"+loop+"submit({total: 260})\n```")
	pred, err := module.NewCodeAct(adding, model, inProcess(t), set, nil).Run(t.Context(), anything)
	if err != nil || calls != 260 || len(pred.Trajectory.Calls) != 260 {
		t.Fatalf("%d calls, %v", calls, err)
	}
	wantTold(t, model, 1, "\n- note ×260 (E1–E260), from {\"limit\":1} to {\"limit\":260}\n")
}
