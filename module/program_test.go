package module_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// office is what the programs of these tests act on.
type office struct {
	sent atomic.Int64
	down atomic.Bool // reads fail
}

type crate struct {
	Limit int `json:"limit"`
}

func (o *office) tools(t *testing.T) *tools.Set {
	return toolSet(t,
		tools.Func("send", "Sends a parcel.", func(_ context.Context, p crate) (int, error) {
			o.sent.Add(1)
			return p.Limit, nil
		}, &tools.Hints{Class: tools.Effect}),
		tools.Func("weigh", "Weighs a parcel.", func(_ context.Context, p crate) (int, error) {
			if o.down.Load() {
				return 0, errors.New("the scales are broken")
			}
			return 2 * p.Limit, nil
		}, &tools.Hints{Class: tools.Read}))
}

// A program answers without a model, by submit or by its value.
func TestProgramWithoutModel(t *testing.T) {
	t.Parallel()
	const failed = "module: no answer after 1 step: the compiled program failed and has no fallback: "
	for code, want := range map[string]string{
		`submit({total: await weigh({limit})})`:               "",
		`const total = await weigh({limit}); ({total})`:       "",
		`return {total: await weigh({limit})}`:                "",
		`await weigh({limit})`:                                "",
		`submit({total: "two"})`:                              failed + "the answer is not valid: total must be",
		`console.log(await weigh({limit}))`:                   "no answer after 1 step",
		`throw new Error("no")`:                               failed + "line 1, column 7: Error: no",
		`await weigh({limit: "heavy"})`:                       `weigh: limit must be an integer, not "heavy"`,
		`const total = await wiegh({limit}); submit({total})`: "wiegh is not defined",
	} {
		p := module.NewProgram(adding, module.Script{Code: code}, inProcess(t), (&office{}).tools(t), nil)
		pred, err := p.Run(t.Context(), anything)
		switch {
		case want == "" && (err != nil || pred.Output.Total != 2):
			t.Errorf("%s: got %v, %v", code, pred, err)
		case want != "":
			if part := (*module.IncompleteError)(nil); !errors.As(err, &part) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %s", code, err, want)
			}
		}
	}
}

// unseen is the text of a file that the model is not shown.
const unseen = "weigh(what the boss sends)"

// fallback is a program that gives no answer.
type fallback struct {
	code   string
	edit   func(*module.Script)
	down   bool
	told   string // to the model
	reason string
}

// check runs the program. The model takes over in the same run, is told why, and sends nothing twice.
func (c fallback) check(t *testing.T) {
	t.Helper()
	o := &office{}
	o.down.Store(c.down)
	model := llmtest.New(fence(`const total = await send({limit}); submit({total: total + 1})`))
	act := module.NewCodeAct(adding, model, inProcess(t), o.tools(t), &module.Options{MaxIters: 1})
	script := act.Program(module.Script{Code: c.code}).Script
	if c.edit != nil {
		c.edit(&script)
	}
	p := act.Program(script)
	var reasons []string
	ctx := module.Observe(t.Context(), func(_ context.Context, e event.Event) {
		if e, ok := e.(event.ModelRequest); ok {
			reasons = append(reasons, e.Fallback)
		}
	})
	pred, err := p.Run(ctx, anything)
	if err != nil || pred.Output.Total != 2 {
		t.Fatalf("got %v, %v", pred, err)
	}
	if o.sent.Load() != 1 {
		t.Errorf("%d parcels were sent", o.sent.Load())
	}
	if got := pred.Trajectory.Fallback; got != c.reason || !slices.Equal(reasons, []string{got}) {
		t.Errorf("the reason is %s, the events have %q", got, reasons)
	}
	asked := model.Requests()[0]
	if text := asked.Text(); !strings.Contains(text, c.code) || strings.Contains(text, unseen) ||
		!strings.Contains(asked.Last(), c.told) {
		t.Errorf("the model was asked:\n%s", asked.Text())
	}
	steps := pred.Trajectory.Steps
	if len(steps) != 2 || !steps[0].Compiled || steps[1].Compiled || pred.Trajectory.Usage().Calls != 1 {
		t.Errorf("the steps are\n%v", pred.Trajectory)
	}
}

// sends is the beginning of programs that have had an effect when they fail.
const sends = `const total = await send({limit}); `

// Whatever fails, the model takes over and repeats no effect.
func TestProgramFallsBack(t *testing.T) {
	t.Parallel()
	const done = "Done so far:\n- E1 send({\"limit\":1}) → 1"
	for name, c := range map[string]fallback{
		"a tool fails": {
			code: sends + `await weigh({limit}); submit({total})`, down: true, told: done,
			reason: "line 1, column 42: ToolError: weigh: the scales are broken",
		},
		"the program fails after an effect": {
			code: sends + `null.x`, told: done,
			reason: "line 1, column 41: TypeError: Cannot read properties of undefined or null (reading 'x')",
		},
		"the answer is invalid": {
			code: sends + `({total: "two"})`, told: done,
			reason: `the answer is not valid: total must be an integer, not "two"`,
		},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); c.check(t) })
	}
}

// A program that was written for something else is not run.
func TestProgramIsOutdated(t *testing.T) {
	t.Parallel()
	type text struct {
		Total string `json:"total"`
	}
	texts := signature.Must(signature.New[orders, text]("Add up."))
	heavy := tools.Func("weigh", "", func(context.Context, struct {
		Limit int    `json:"limit"`
		Unit  string `json:"unit"`
	}) (int, error) {
		return 0, nil
	}, nil)
	send := tools.Func("send", "", func(_ context.Context, p crate) (int, error) { return 0, nil }, nil)
	rename := func(s *module.Script) { s.Tools[0] = "0a0b0c0d pack(" + unseen }
	for name, c := range map[string]fallback{
		"another answer type": {
			code: sends + `submit({total})`, edit: func(s *module.Script) { s.Signature = texts.Spec().String() },
			reason: "the signature has changed since the program was written: " +
				"the output total has a different type or different constraints",
		},
		"another task": {
			code: sends + `submit({total})`, edit: func(s *module.Script) { s.Instructions = "Subtract." },
			reason: "the instructions have changed since the program was written",
		},
		"another schema": {
			code: sends + `await weigh({limit, unit: "kg"}); submit({total})`,
			edit: func(s *module.Script) {
				code := module.Script{Code: s.Code}
				*s = module.NewProgram(adding, code, inProcess(t), toolSet(t, heavy, send), nil).Script
				for i, tool := range s.Tools {
					head, _, _ := strings.Cut(tool, "(")
					s.Tools[i] = head + "(" + unseen
				}
			},
			reason: "the tool weigh has changed since the program was written",
		},
		"a tool is gone, and another one is new": {
			code: sends + `submit({total})`, edit: rename,
			reason: "the tool pack, which the program calls, no longer exists; " +
				"the program mentions the tool send, but was not written for it",
		},
		"no tools": {
			code: sends + `submit({total})`, edit: func(s *module.Script) { s.Tools = nil },
			reason: "the program mentions the tool send, but was not written for it",
		},
		"the check refuses it": {code: sends + `pack(); stack()`, reason: "line 1, column 36: pack is not defined"},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); c.check(t) })
	}
}

// If an effect is uncertain, the model's program is held as after a program of its own.
func TestProgramUncertainEffect(t *testing.T) {
	t.Parallel()
	sent := 0
	send := tools.Func("send", "", func(context.Context, crate) (int, error) {
		if sent++; sent == 1 {
			return 0, errors.New("504")
		}
		return sent, nil
	}, &tools.Hints{Class: tools.Effect})
	model := llmtest.New(fence(`submit({total: await send({limit})})`), fence(`submit({total: 7})`))
	act := module.NewCodeAct(adding, model, inProcess(t), toolSet(t, send), &module.Options{MaxIters: 1})
	pred, err := act.Program(module.Script{Code: `submit({total: await send({limit})})`}).Run(t.Context(), anything)
	if err != nil || sent != 1 || pred.Output.Total != 7 {
		t.Fatalf("sent %d times: %v, %v", sent, pred, err)
	}
	if len(pred.Trajectory.Calls) != 1 || pred.Trajectory.Calls[0].State != journal.StateFailed {
		t.Errorf("the calls are %v", pred.Trajectory.Calls)
	}
}

// An answer that may rest on the first of several pages is confirmed by the model, or given if there is none.
func TestProgramDoubts(t *testing.T) {
	t.Parallel()
	type page struct {
		Items      []int  `json:"items"`
		NextCursor string `json:"next_cursor,omitempty"`
	}
	list := tools.Func("list", "", func(context.Context, struct {
		Cursor string `json:"cursor,omitempty"`
	}) (page, error) {
		return page{[]int{1, 2}, "more"}, nil
	}, &tools.Hints{Class: tools.Read})
	set := toolSet(t, list)
	script := module.Script{Code: `submit({total: (await list({})).items.length})`}
	ends := 0
	o := &module.Options{OnEvent: func(_ context.Context, e event.Event) {
		if _, ended := e.(event.ProgramEnd); ended {
			ends++
		}
	}}
	alone := module.NewProgram(adding, script, inProcess(t), set, o)
	pred, err := alone.Run(t.Context(), anything)
	if err != nil || pred.Output.Total != 2 || ends != 1 || len(pred.Evidence()) != 1 {
		t.Errorf("without a model: %v, %v, after %d ends", pred, err, ends)
	}
	act := module.NewCodeAct(adding, llmtest.New(fence(`submit({total: 5})`)), inProcess(t), set, nil)
	pred, err = act.Program(script).Run(t.Context(), anything)
	if err != nil || pred.Output.Total != 5 ||
		!strings.HasPrefix(pred.Trajectory.Fallback, "the answer may be wrong: line 1, column 23: list: 2 rows were read") {
		t.Errorf("with a model: %v, %v", pred, err)
	}
}

type team struct{ Adder *module.Program[orders, sum] }

func (m *team) Run(ctx context.Context, in orders) (*module.Prediction[sum], error) {
	return m.Adder.Run(ctx, in)
}

// A module within another keeps its path.
func TestProgramClone(t *testing.T) {
	t.Parallel()
	model := llmtest.New(submit1, submit1)
	act := module.NewCodeAct(adding, model, inProcess(t), nil, nil)
	p := act.Program(module.Script{Code: `null.x`})
	for range 2 {
		c := module.Clone(&team{p})
		pred, err := module.Start(t.Context(), c, anything).Result()
		if err != nil || pred.Trajectory.Name != "Adder" || pred.Trajectory.Module != "Program" {
			t.Errorf("got %v, %v", pred, err)
		}
	}
}

// Programs that were not made properly say so.
func TestProgramSetup(t *testing.T) {
	t.Parallel()
	box := inProcess(t)
	code := module.Script{Code: "1"}
	var none *module.Program[orders, sum]
	var noAct *module.CodeAct[orders, sum]
	bad := module.Script{Code: "1", Signature: "->"}
	for want, p := range map[string]*module.Program[orders, sum]{
		"the Program is nil, or was not made by NewProgram": none,
		"the CodeAct is nil, or was not made by NewCodeAct": noAct.Program(code),
		"the Program has no code":                           module.NewProgram(adding, module.Script{}, box, nil, nil),
		"the signature is missing":                          module.NewProgram[orders, sum](nil, code, box, nil, nil),
		"the sandbox is missing":                            module.NewProgram(adding, code, nil, nil, nil),
		"the signature of the script: ":                     module.NewProgram(adding, bad, box, nil, nil),
	} {
		if _, err := p.Run(t.Context(), anything); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Check finds what has changed and what is wrong, and runs nothing.
func TestProgramCheck(t *testing.T) {
	t.Parallel()
	o := &office{}
	set := o.tools(t)
	written := module.Script{Code: `submit({total: await weigh({limit})})`}
	written = module.NewProgram(adding, written, inProcess(t), set, nil).Script
	for _, test := range []struct {
		script module.Script
		set    *tools.Set
		want   string
	}{
		{written, set, ""},
		{module.Script{Code: `await send({limit}); submit({total: 1})`}, set, ""},
		{written, nil, "module: the tool weigh, which the program calls, no longer exists"},
		{module.Script{Code: `submit({total: task})`}, set, "task is not defined"},
		{module.Script{Code: `submit({total: await llm("two")})`}, set, "llm is not defined"},
		{module.Script{Code: `submit({`}, set, "expected }"},
		{module.Script{}, set, "the Program has no code"},
	} {
		err := module.NewProgram(adding, test.script, inProcess(t), test.set, nil).Check(t.Context())
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.script.Code, err, test.want)
		}
	}
	if o.sent.Load() != 0 {
		t.Error("a program was run")
	}
}
