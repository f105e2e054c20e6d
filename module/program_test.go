package module_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
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
	for code, want := range map[string]string{
		`submit({total: await weigh({limit})})`:               "",
		`const total = await weigh({limit}); ({total})`:       "",
		`return {total: await weigh({limit})}`:                "",
		`await weigh({limit})`:                                "",
		`submit({total: "two"})`:                              "no answer after 1 step: the compiled program gave no answer, and no model can take over: The submitted answer was not accepted: total must be an integer, not \"two\"",
		`console.log(await weigh({limit}))`:                   "no answer after 1 step",
		`throw new Error("no")`:                               "no answer after 1 step: the compiled program gave no answer, and no model can take over: line 1, column 7: Error: no",
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

// Whatever fails, the model takes over in the same run, is told why, and repeats no effect.
func TestProgramFallsBack(t *testing.T) {
	t.Parallel()
	const sends = `const total = await send({limit}); `
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
	for name, c := range map[string]struct {
		code   string
		edit   func(*module.Script)
		down   bool
		told   string
		reason string
		sent   int64
	}{
		"a tool fails": {
			code: sends + `await weigh({limit}); submit({total})`, down: true, sent: 1,
			told:   "Done so far:\n- E1 send({\"limit\":1}) → 1",
			reason: "The program failed: line 1, column 42: ToolError: weigh: the scales are broken",
		},
		"the program fails after an effect": {
			code: sends + `null.x`, sent: 1, told: "Done so far:\n- E1 send({\"limit\":1}) → 1",
			reason: "The program failed: line 1, column 41: TypeError: Cannot read properties of undefined or null (reading 'x')",
		},
		"the answer is invalid": {
			code: sends + `({total: "two"})`, sent: 1, told: "Done so far:\n- E1 send({\"limit\":1}) → 1",
			reason: `The submitted answer was not accepted: total must be an integer, not "two"`,
		},
		"another answer type": {
			code: sends + `submit({total})`, edit: func(s *module.Script) { s.Signature = texts.Spec().String() }, sent: 1,
			reason: "The program was refused; nothing has run: the signature has changed since the program was written: " +
				"the output total has another type, or other constraints",
		},
		"another task": {
			code: sends + `submit({total})`, edit: func(s *module.Script) { s.Instructions = "Subtract." }, sent: 1,
			reason: "The program was refused; nothing has run: the instructions have changed since the program was written",
		},
		"another schema": {
			code: sends + `await weigh({limit, unit: "kg"}); submit({total})`, sent: 1,
			edit: func(s *module.Script) {
				other := module.NewProgram(adding, module.Script{Code: s.Code}, inProcess(t),
					toolSet(t, heavy, tools.Func("send", "", func(_ context.Context, p crate) (int, error) { return 0, nil }, nil)), nil)
				*s = other.Script
			},
			reason: "The program was refused; nothing has run: the tool weigh has changed since the program was written: " +
				"it was weigh(args: {limit: number /* integer */; unit: string}): number and is weigh(args: {limit…",
		},
		"a tool is gone": {
			code: sends + `submit({total})`, sent: 1,
			edit: func(s *module.Script) { s.Tools = append(s.Tools, module.ScriptTool{Path: "pack"}) },
			reason: "The program was refused; nothing has run: the tool pack, which the program calls, does not exist " +
				"any more",
		},
		"the check refuses it": {
			code: sends + `pack()`, sent: 1,
			reason: "The program was refused; nothing has run: line 1, column 36: pack is not defined",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
			ctx := module.Observe(t.Context(), func(_ context.Context, e module.Event) {
				if e, ok := e.(module.FellBack); ok {
					reasons = append(reasons, e.Reason)
				}
			})
			pred, err := p.Run(ctx, anything)
			if err != nil || pred.Output.Total != 2 {
				t.Fatalf("got %v, %v", pred, err)
			}
			if o.sent.Load() != c.sent || p.Fallbacks() != 1 {
				t.Errorf("%d parcels were sent, with %d fallbacks", o.sent.Load(), p.Fallbacks())
			}
			reason := strings.Join(strings.Fields(c.reason), " ")
			if got := pred.Trajectory.Fallback; strings.Join(strings.Fields(got), " ") != reason || !slices.Equal(reasons, []string{got}) {
				t.Errorf("the reason is %s, the events have %q", got, reasons)
			}
			asked := model.Requests()[0]
			if !strings.Contains(asked.Text(), c.code) || !strings.Contains(asked.Last(), c.told) {
				t.Errorf("the model was asked:\n%s", asked.Text())
			}
			steps := pred.Trajectory.Steps
			if len(steps) != 2 || !steps[0].Compiled || steps[1].Compiled || pred.Trajectory.Usage().Calls != 1 {
				t.Errorf("the steps are\n%v", pred.Trajectory)
			}
		})
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
	if len(pred.Trajectory.Calls) != 1 || pred.Trajectory.Calls[0].State != journal.Failed {
		t.Errorf("the calls are %v", pred.Trajectory.Calls)
	}
}

// A script survives its file, and its program still runs.
func TestScriptFile(t *testing.T) {
	t.Parallel()
	set := (&office{}).tools(t)
	sig := adding.WithInstructions("Add up.\n\nEven \u2028 if it is\tmuch. */")
	demo, err := module.NewDemo(sig, orders{Limit: 3}, sum{Total: 6})
	if err != nil {
		t.Fatal(err)
	}
	made := module.NewProgram(sig, module.Script{
		Code: "// Two lines:\nsubmit({total: await weigh({limit})});", From: "a test\nof ours", Examples: []module.Demo{demo},
	}, inProcess(t), set, nil).Script
	var file strings.Builder
	if err := made.Write(&file); err != nil {
		t.Fatal(err)
	}
	const want = `// @program 1: written for a module of github.com/writ-go/writ. These lines are read: the program runs only while
// its signature and the schemas of its tools are what they say. Delete them to make it a new program.
// @signature limit: int(ge=1) -> total: int
// @instructions Add up.
// @instructions Even   if it is	much. */
// @tool b55415d0 weigh(args: {limit: number /* integer */}): number
// @from a test of ours
// @example {"inputs":{"limit":3},"outputs":{"total":6}}

// Two lines:
submit({total: await weigh({limit})});
`
	if file.String() != want {
		t.Errorf("got\n%s\nwant\n%s", file.String(), want)
	}
	for name, text := range map[string]string{"unix": want, "windows": strings.ReplaceAll(want, "\n", "\r\n")} {
		read, err := module.ReadScript(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		p := module.NewProgram(sig, read, inProcess(t), set, nil)
		if pred, err := p.Run(t.Context(), anything); err != nil || pred.Output.Total != 2 {
			t.Errorf("%s: got %v, %v", name, pred, err)
		}
		var again strings.Builder
		if err := read.Write(&again); err != nil || name == "unix" && again.String() != want {
			t.Errorf("%s: written again, it is\n%s", name, again.String())
		}
	}
	read, err := module.ReadScript(strings.NewReader("// A comment\nsubmit({total: 1})"))
	if err != nil || read.Signature != "" || !strings.HasPrefix(read.Code, "// A comment") {
		t.Errorf("a new program: %+v, %v", read, err)
	}
}

// A file that cannot be read is reported with its line.
func TestScriptErrors(t *testing.T) {
	t.Parallel()
	const title = "// @program 1: title\n"
	for text, want := range map[string]string{
		"// @program 2: title\n":            `line 1: @program: the file has version "2", but this version of Writ reads version 1`,
		title + "// @signature a ->\n":      "line 2: @signature: ",
		title + "//\n// @tool 1234\n":       "line 3: @tool: the declaration of the tool is missing",
		title + "// @example {\n":           "line 2: @example: ",
		title + "// @recipe x\n":            "line 2: @recipe: unknown entry",
		title + "// @from here\n\nsubmit()": "it has no line // @signature",
	} {
		if _, err := module.ReadScript(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

// Texts for people are not part of what a program depends on; everything else is.
func TestScriptSchemas(t *testing.T) {
	t.Parallel()
	hash := func(input, output string) string {
		tool := &tools.Tool{Name: "t", InputSchema: json.RawMessage(input), OutputSchema: json.RawMessage(output),
			Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }}
		p := module.NewProgram(adding, module.Script{Code: `await t({})`}, inProcess(t), toolSet(t, tool), nil)
		if len(p.Script.Tools) != 1 {
			t.Fatalf("the tools are %v", p.Script.Tools)
		}
		return p.Script.Tools[0].Schemas
	}
	const input, output = `{"type":"object","properties":{"description":{"type":"string"},"b":{"type":"integer"}}}`, `{"type":"string"}`
	was := hash(input, output)
	for changed, same := range map[[2]string]bool{
		{`{"properties":{"b":{"title":"B","type":"integer"},"description":{"type":"string","description":"what"}},
			"description":"all", "type":"object"}`, output}: true,
		{input, `{"type":"string","examples":["x"]}`}:                                           true,
		{`{"type":"object","properties":{"b":{"type":"integer"}}}`, output}:                     false,
		{strings.Replace(input, "integer", "number", 1), output}:                                false,
		{strings.Replace(input, `"type":"integer"`, `"type":"integer","maximum":3`, 1), output}: false,
		{input, `{"type":"number"}`}:                                                            false,
		{strings.Replace(input, `"type":"integer"`, `"enum":[{"description":1}]`, 1), output}:   false,
	} {
		if got := hash(changed[0], changed[1]) == was; got != same {
			t.Errorf("%s → %s: the same is %v", changed[0], changed[1], got)
		}
	}
}

// A program asks a model where it says so, as text or in the form of a schema.
func TestProgramAsksModel(t *testing.T) {
	t.Parallel()
	sub := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		switch {
		case strings.Contains(r.Text(), "fail"):
			return llmtest.Reply{}, errors.New("503")
		case strings.Contains(r.Text(), "number"):
			return llmtest.Reply{Text: "[[ ## reply ## ]]\n4\n\n[[ ## completed ## ]]"}, nil
		}
		return llmtest.Reply{Text: "[[ ## reply ## ]]\nfour\n\n[[ ## completed ## ]]"}, nil
	})
	code := `const word = await llm('a word');
const n = await llm('a number', {type: 'integer', minimum: 3});
let kind;
try { await llm('fail') } catch (e) { kind = e.kind }
if (word !== 'four' || n !== 4 || kind !== 'failed') throw new Error(JSON.stringify({word, n, kind}));
submit({total: n})`
	p := module.NewProgram(adding, module.Script{Code: code}, inProcess(t), nil, &module.ProgramOptions{Sub: sub})
	pred, err := p.Run(t.Context(), anything)
	if err != nil || pred.Output.Total != 4 {
		t.Fatalf("got %v, %v", pred, err)
	}
	if u := pred.Trajectory.Usage(); u.Calls != 3 || len(pred.Trajectory.Runs) != 3 {
		t.Errorf("the usage is %v in %d runs", u, len(pred.Trajectory.Runs))
	}
	var paths []string
	for path := range module.Predictors(p) {
		paths = append(paths, path)
	}
	if !slices.Equal(paths, []string{"Predictor", "Sub"}) {
		t.Errorf("the predictors are %q", paths)
	}
	for _, b := range module.Tools(p) {
		if b.Path() != "llm" {
			t.Errorf("the tools have %s", b.Path())
		}
	}
	alone := module.NewProgram(adding, module.Script{Code: code}, inProcess(t), nil, nil)
	if _, err := alone.Run(t.Context(), anything); err == nil || !strings.Contains(err.Error(), "llm is not defined") {
		t.Errorf("without a model: %v", err)
	}
}

// Clones share the count of fallbacks, and a module within another keeps its path.
func TestProgramClone(t *testing.T) {
	t.Parallel()
	model := llmtest.New(submit1, submit1)
	act := module.NewCodeAct(adding, model, inProcess(t), nil, nil)
	p := act.Program(module.Script{Code: `null.x`})
	type team struct{ Adder *module.Program[orders, sum] }
	for range 2 {
		c := module.Clone(&team{p})
		pred, err := module.Compose(t.Context(), c, func(ctx context.Context) (sum, error) {
			pred, err := c.Adder.Run(ctx, anything)
			if err != nil {
				return sum{}, err
			}
			return pred.Output, nil
		})
		if err != nil || pred.Trajectory.Runs[0].Name != "Adder" || pred.Trajectory.Runs[0].Module != "Program" {
			t.Errorf("got %v, %v", pred, err)
		}
	}
	if p.Fallbacks() != 2 || (*module.Program[orders, sum])(nil).Fallbacks() != 0 {
		t.Errorf("%d fallbacks", p.Fallbacks())
	}
}

// Programs that were not made properly say so.
func TestProgramSetup(t *testing.T) {
	t.Parallel()
	box := inProcess(t)
	code := module.Script{Code: "1"}
	var none *module.Program[orders, sum]
	var noAct *module.CodeAct[orders, sum]
	for want, p := range map[string]*module.Program[orders, sum]{
		"the Program is nil, or was not made by NewProgram": none,
		"the CodeAct is nil, or was not made by NewCodeAct": noAct.Program(code),
		"the Program has no code":                           module.NewProgram(adding, module.Script{}, box, nil, nil),
		"the signature is missing":                          module.NewProgram[orders, sum](nil, code, box, nil, nil),
		"the sandbox is missing":                            module.NewProgram(adding, code, nil, nil, nil),
		"the signature of the script: ":                     module.NewProgram(adding, module.Script{Code: "1", Signature: "->"}, box, nil, nil),
	} {
		if _, err := p.Run(t.Context(), anything); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A program that succeeds costs no request and no tokens.
func ExampleNewProgram() {
	type order struct {
		Amounts []float64 `json:"amounts"`
	}
	type bill struct {
		Total float64 `json:"total"`
	}
	box, err := sandbox.New(nil)
	if err != nil {
		panic(err)
	}
	defer box.Close()
	billing := signature.Must(signature.New[order, bill]("Add up the amounts and round to cents."))
	p := module.NewProgram(billing, module.Script{
		Code: `const sum = amounts.reduce((a, b) => a + b, 0); submit({total: Math.round(sum * 100) / 100});`,
	}, box, nil, nil)
	pred, err := p.Run(context.Background(), order{Amounts: []float64{0.1, 0.2}})
	if err != nil {
		panic(err)
	}
	fmt.Println(pred.Output.Total, "with", pred.Trajectory.Usage().Calls, "model calls")

	if _, err = p.Run(context.Background(), order{Amounts: []float64{1e308, 1e308}}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 0.3 with 0 model calls
	// module: no answer after 1 step: the compiled program gave no answer, and no model can take over: The submitted answer was not accepted: total must be a number, not null
}
