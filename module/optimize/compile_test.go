package optimize_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/optimize"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// Ten chores are compiled. Their programs answer all examples without a model, also after they were saved and loaded.
func TestCompile(t *testing.T) {
	t.Parallel()
	for name, c := range chores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w world
			model, all := c.model(), c.examples(t, 20)
			act := c.codeAct(t, model, w.tools(t))
			metric := evaluate.ExactMatch[values, values]()
			p, report, err := optimize.Compile(t.Context(), act, all, metric, &optimize.CompileOptions{Policy: fakes()})
			if err != nil {
				t.Fatal(err)
			}
			checkTries(t, c, report)
			if usage := report.Programs[len(c.drafts)-1].Test.Usage.Total(); usage.Calls != 0 {
				t.Errorf("the test examples took %v", usage)
			}
			if bound := report.Programs[len(c.drafts)-1].Bound; report.Usage.Total().Calls != len(c.drafts) ||
				bound != "5 of 5 right; up to 46 % of all answers may be wrong" {
				t.Errorf("the report has %v and the bound %q", report.Usage, bound)
			}
			var file bytes.Buffer
			if err := p.Script.Write(&file); err != nil {
				t.Fatal(err)
			}
			script, err := module.ReadScript(&file)
			if err != nil || len(script.Examples) == 0 || !strings.Contains(script.From, "score 1") {
				t.Fatalf("the script is %+v, %v", script, err)
			}
			asked := len(model.Requests())
			again, err := evaluate.Evaluate(t.Context(), act.Program(script), all, metric,
				&evaluate.Options{Policy: fakes()})
			if err != nil || again.Errors > 0 || again.Score.Mean != 1 || len(model.Requests()) > asked {
				t.Errorf("evaluated again: %v, %v", again, err)
			}
			verifyRecorded(t, act.Program(script))
			if w.sent.Load() > 0 {
				t.Errorf("%d mails were sent", w.sent.Load())
			}
		})
	}
}

// verifyRecorded tests a program with its examples against recordings.
func verifyRecorded(t *testing.T, p *module.Program[values, values]) {
	t.Helper()
	var tape bytes.Buffer
	if err := p.Verify(tools.WithPolicies(t.Context(), evaluate.Record(&tape), fakes())); err != nil {
		t.Error(err)
	}
	recorded, err := evaluate.Recorded(&tape)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Verify(tools.WithPolicies(t.Context(), recorded)); err != nil {
		t.Errorf("with recordings: %v", err)
	}
}

func checkTries(t *testing.T, c chore, report *optimize.CompileReport) {
	t.Helper()
	if len(report.Programs) != len(c.drafts) {
		t.Fatalf("%d programs were tried", len(report.Programs))
	}
	for i, try := range report.Programs {
		switch {
		case try.Code != c.drafts[i]:
			t.Errorf("program %d is %s", i+1, try.Code)
		case i == len(c.drafts)-1 && try.Problem != "":
			t.Errorf("the last program: %s", try.Problem)
		case i < len(c.problems) && !strings.HasPrefix(try.Problem, c.problems[i]):
			t.Errorf("program %d: %s", i+1, try.Problem)
		}
	}
}

// What the model is told: the runs with right answers, what its program did wrong, with code frames, and nothing about
// the examples that were held out.
func TestCompilePrompts(t *testing.T) {
	t.Parallel()
	c := chores["total of a table"]
	model := c.model()
	all := c.examples(t, 20)
	act := c.codeAct(t, model, nil)
	_, _, err := optimize.Compile(t.Context(), act, all, evaluate.ExactMatch[values, values](), nil)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := evaluate.Split(all, 0, 0.5, 0.25, 0.25)
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	for _, r := range model.Requests() {
		if strings.Contains(r.Text(), asksForProgram) {
			asked = append(asked, r.Text())
		}
	}
	for _, want := range []string{
		"Add up the last column.", "declare function submit(answer: {total: number}): never;", "- csv: string",
		"await llm(prompt, schema)", "Run 1\ninputs: {\"csv\":", "program 1:\n" + c.agent,
	} {
		if !strings.Contains(asked[0], want) {
			t.Errorf("the question lacks %q:\n%s", want, asked[0])
		}
	}
	for _, want := range []string{
		"It fails or is wrong on 10 of 10 questions.", c.drafts[0],
		"1 | submit({total: csv.lines().length})\n  |                    ^",
	} {
		if !strings.Contains(asked[1], want) {
			t.Errorf("the second question lacks %q:\n%s", want, asked[1])
		}
	}
	for _, hidden := range slices.Concat(parts[1], parts[2]) {
		text, _ := hidden.In.Get("csv")
		if strings.Contains(asked[0]+asked[1], string(text)) {
			t.Errorf("the model was shown %s", text)
		}
	}
}

// Programs that fit only the examples that the model saw are not accepted, and it does not learn why.
func TestCompileHeldOut(t *testing.T) {
	t.Parallel()
	c := chores["held-out cases"]
	all := c.examples(t, 20)
	parts, err := evaluate.Split(all, 0, 0.5, 0.25, 0.25)
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, e := range parts[0] {
		n, _ := e.In.Get("n")
		seen = append(seen, string(n))
	}
	overfit := `if (![` + strings.Join(seen, ", ") + `].includes(n)) throw new Error('secret'); ` + c.agent
	c.drafts = []string{overfit, overfit, overfit + ";", overfit + ";;"}
	model := c.model()
	p, report, err := optimize.Compile(t.Context(), c.codeAct(t, model, nil), all,
		evaluate.ExactMatch[values, values](), &optimize.CompileOptions{Programs: 4})
	if p != nil || err == nil || !strings.HasPrefix(err.Error(), "optimize: compile: no program was accepted; "+
		"the last of 4: it fails on 5 of 5 validation examples; example ") {
		t.Fatalf("got %v, %v", p, err)
	}
	if again := report.Programs[1].Problem; !strings.HasPrefix(again, "it repeats program 1: ") {
		t.Errorf("the second program: %s", again)
	}
	for _, r := range model.Requests() {
		if text := r.Text(); strings.Contains(text, asksForProgram) && strings.Contains(text, "Error: secret") {
			t.Errorf("the model was told:\n%s", text)
		}
	}
}

// A program that is right about the examples that chose it, but not about those that test it, is rejected for good: no
// other program is tested.
func TestCompileFinalTest(t *testing.T) {
	t.Parallel()
	c := chores["held-out cases"]
	all := c.examples(t, 20)
	parts, err := evaluate.Split(all, 0, 0.5, 0.25, 0.25)
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, e := range slices.Concat(parts[0], parts[1]) {
		n, _ := e.In.Get("n")
		seen = append(seen, string(n))
	}
	for code, why := range map[string]string{
		`throw new Error('unknown')`: "; example ",
		`submit({kind: 'strange'})`:  "; a second program cannot be tested on the same examples, so call Compile with new",
	} {
		lucky := `if (![` + strings.Join(seen, ", ") + `].includes(n)) ` + code + `; else ` + c.agent
		c.drafts = []string{lucky, c.agent}
		p, report, err := optimize.Compile(t.Context(), c.codeAct(t, c.model(), nil), all,
			evaluate.ExactMatch[values, values](), nil)
		const bound = "0 of 5 right; up to 100 % of all answers may be wrong"
		if want := "optimize: compile: program 1 failed the final test (" + bound + "): its score on the test examples " +
			"is 0, but that of the CodeAct is 1" + why; p != nil || err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v\nwant %s", err, want)
		}
		if tried := report.Programs; len(tried) != 1 || tried[0].Bound != bound {
			t.Errorf("the programs are %+v", tried)
		}
	}
}

// A program that is wrong once, where the CodeAct is right, may have had bad luck. Its score is reported.
func TestCompileAcceptsBadLuck(t *testing.T) {
	t.Parallel()
	c := chores["held-out cases"]
	all := c.examples(t, 40)
	parts, err := evaluate.Split(all, 0, 0.5, 0.25, 0.25)
	if err != nil {
		t.Fatal(err)
	}
	n, _ := parts[2][0].In.Get("n")
	c.drafts = []string{`submit({kind: n === ` + string(n) + ` ? 'strange' : n % 2 ? 'odd' : 'even'})`}
	p, report, err := optimize.Compile(t.Context(), c.codeAct(t, c.model(), nil), all,
		evaluate.ExactMatch[values, values](), nil)
	if err != nil || report.Programs[0].Test.Score.Mean != 0.9 {
		t.Fatalf("got %v, %v", report, err)
	}
	const want = "optimize.Compile: 20 training, 10 validation, 10 test examples: score 0.9 " +
		"(9 of 10 right; up to 40 % of all answers may be wrong); CodeAct: score 1"
	if p.Script.From != want || len(p.Script.Examples) != 10 {
		t.Errorf("the script is from %s", p.Script.From)
	}
}

// If the instructions of the agent were optimized, they are those of the program. So the program is not run if an agent
// with other instructions loads it.
func TestCompileKeepsInstructions(t *testing.T) {
	t.Parallel()
	c := chores["total of a table"]
	act := c.codeAct(t, c.model(), nil)
	act.Predictor.Spec = act.Predictor.Spec.WithInstructions("Be exact.")
	p, _, err := optimize.Compile(t.Context(), act, c.examples(t, 20), evaluate.ExactMatch[values, values](), nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.Script.Instructions != "Be exact." {
		t.Errorf("the instructions are %q", p.Script.Instructions)
	}
	in := c.examples(t, 1)[0].In
	for act, want := range map[*codeAct]string{
		act: "", c.codeAct(t, c.model(), nil): "the instructions have changed since the program was written",
	} {
		pred, err := act.Program(p.Script).Run(t.Context(), in)
		if err != nil || pred.Trajectory.Fallback != want {
			t.Errorf("got %v, %v, want %q", pred, err, want)
		}
	}
}

// A program may ignore a case that no example has. The agent answers such inputs, even after the program was saved.
func TestCompileSeesNewKinds(t *testing.T) {
	t.Parallel()
	c := chore{
		signature: "net: int, mode: Literal['sale', 'refund'], note: Optional[str] -> total: int",
		agent:     `submit({total: mode === 'refund' ? -net : net * 3})`, drafts: []string{`submit({total: net * 3})`},
		question: func(i int) (in, want map[string]any) {
			return map[string]any{"net": i, "mode": "sale"}, map[string]any{"total": i * 3}
		},
	}
	act := c.codeAct(t, c.model(), nil)
	p, _, err := optimize.Compile(t.Context(), act, c.examples(t, 20), evaluate.ExactMatch[values, values](), nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := []string{
		`.mode is "sale"`, ".net is positive", ".net is zero", ".note is absent", "answer.total is positive",
		"answer.total is zero",
	}
	if !p.Shadow || !slices.Equal(p.Script.Seen, seen) {
		t.Errorf("Shadow is %v, and the kinds are %q", p.Shadow, p.Script.Seen)
	}
	var file bytes.Buffer
	if err := p.Script.Write(&file); err != nil {
		t.Fatal(err)
	}
	script, err := module.ReadScript(&file)
	if err != nil {
		t.Fatal(err)
	}
	refund, err := signature.ValuesOf(map[string]any{"net": 5, "mode": "refund"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*module.Program[values, values]{p, act.Program(script)} {
		pred, err := p.Run(t.Context(), refund)
		if err != nil {
			t.Fatal(err)
		}
		const want = `the program and the model gave different answers; ` +
			`no example had an input of this kind: .mode is "refund"`
		if total, _ := pred.Output.Get("total"); string(total) != "-5" || pred.Trajectory.Fallback != want {
			t.Errorf("the total is %s: %s", total, pred.Trajectory.Fallback)
		}
	}
}

// A program that cannot be compiled, and arguments that cannot be used, are errors that say so.
func TestCompileErrors(t *testing.T) {
	t.Parallel()
	mails, dates := chores["mails"], chores["dates"]
	useless := mails
	useless.agent = `submit({sent: -1})`
	metric := evaluate.ExactMatch[values, values]()
	all, faked := &optimize.CompileOptions{HeldOut: 1}, &optimize.CompileOptions{Policy: fakes()}
	wrong := map[string]tools.Handler{"the.tool.of.another.agent": nil, "mail.sned": nil}
	misspelled := evaluate.Chain(evaluate.Record(io.Discard), evaluate.Fakes(wrong), evaluate.Refuse())
	for want, c := range map[string]struct {
		chore    chore
		examples int
		options  *optimize.CompileOptions
	}{
		"optimize: compile: evaluate: the module has tools with effects: mail.send; " +
			"set Options.Policy to Fakes": {mails, 20, nil},
		"optimize: compile: there must be at least 3 examples": {dates, 2, nil},
		"optimize: compile: HeldOut is 1":                      {dates, 20, all},
		"nothing to learn from":                                {useless, 20, faked},
		`optimize: compile: CompileOptions.Policy fakes "mail.sned", which is not a tool; did you mean "mail.send"?`: {
			mails, 20, &optimize.CompileOptions{Policy: misspelled}},
		"nothing to learn from; example 3: module: no answer after 1 step: sandbox: tool mail.send: optimize: mail.send " +
			"was not called, since Run and Compile never call tools with effects": {
			mails, 20, &optimize.CompileOptions{Policy: evaluate.Act}},
	} {
		var w world
		act := c.chore.codeAct(t, c.chore.model(), w.tools(t))
		p, _, err := optimize.Compile(t.Context(), act, c.chore.examples(t, c.examples), metric, c.options)
		if p != nil || err == nil || !strings.Contains(err.Error(), want) || w.sent.Load() > 0 {
			t.Errorf("got %v, want %s; %d mails were sent", err, want, w.sent.Load())
		}
	}
	noBox := module.NewCodeAct(signature.Must(signature.Parse(dates.signature, "")), llmtest.New(), nil, nil, nil)
	for want, act := range map[string]*module.CodeAct[values, values]{"nil": nil, "sandbox": noBox} {
		_, _, err := optimize.Compile(t.Context(), act, dates.examples(t, 3), metric, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	down := errors.New("down")
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if strings.Contains(r.Text(), asksForProgram) {
			return llmtest.Reply{}, down
		}
		return llmtest.Reply{Text: fence(dates.agent)}, nil
	})
	_, report, err := optimize.Compile(t.Context(), dates.codeAct(t, model, nil), dates.examples(t, 20), metric, nil)
	if !errors.Is(err, down) || report.Train.Score.Mean != 1 {
		t.Errorf("a model that is down: %v", err)
	}
}

// A number with which a program calculates is accepted, even if it is an expected answer. A table of such numbers is
// not.
func TestCompileAcceptsConstants(t *testing.T) {
	t.Parallel()
	for code, refused := range map[string]bool{
		`submit({seconds: hours * 3600})`:                                              false,
		`submit({seconds: 3_600.0 * hours})`:                                           false,
		`const rate = 3600; submit({seconds: hours * rate})`:                           false,
		`submit({seconds: (hours - 1) * 3600 + 3600})`:                                 false,
		`submit({seconds: Math.round(60 * (hours / 3600))})`:                           false,
		`submit({seconds: [0, 3600][hours]})`:                                          true,
		`submit({seconds: hours === 1 ? 3600 : hours * 60 * 60})`:                      true,
		`submit({seconds: 3600 /* hours */})`:                                          true,
		`submit({seconds: hours * 3600 || Number('3600')})`:                            true,
		`submit({seconds: {1: 3600, 2: 7200}[hours] ?? hours * 3600})`:                 true,
		`const a = 3600, b = 7200; submit({seconds: hours === 1 ? a : b})`:             true,
		`submit({seconds: hours * 3600 + (hours === 2 ? 7200 - 7200 : 0)})`:            true,
		`const t = new Map([[1, 3600]]); submit({seconds: t.get(hours) ?? hours * 6})`: true,
	} {
		c := chore{
			signature: "hours: int -> seconds: int", agent: `submit({seconds: hours * 60 * 60})`, drafts: []string{code},
			question: func(i int) (in, want map[string]any) {
				return map[string]any{"hours": i}, map[string]any{"seconds": i * 60 * 60}
			},
		}
		_, report, err := optimize.Compile(t.Context(), c.codeAct(t, c.model(), nil), c.examples(t, 20),
			evaluate.ExactMatch[values, values](), &optimize.CompileOptions{Programs: 1})
		if len(report.Programs) == 0 {
			t.Fatal(err)
		}
		if problem := report.Programs[0].Problem; refused != strings.Contains(problem, remedy) {
			t.Errorf("%s: got %q", code, problem)
		}
	}
}

// What counts as an expected answer in a program.
func TestCompileRefusesAnswers(t *testing.T) {
	t.Parallel()
	for code, refused := range map[string]bool{
		`submit({name: 'Zanzibar', n: 1})`:                                         true,
		`submit({name: "It is \u005aanzibar", n: 1})`:                              true,
		"submit({name: `${id}: Zanzibar`, n: 1})":                                  true,
		`const all = 'Yokohama,Zanzibar'.split(','); submit({name: all[0], n: 1})`: true,
		`submit({name: id, n: 73_515})`:                                            true,
		`submit({name: id, n: -73515})`:                                            true,
		`const Zanzibar = id; submit({name: Zanzibar, n: 1})`:                      false,
		`submit({name: 'Zanzibars', n: 1}) // Zanzibar`:                            false,
		`submit({name: 'unknown place', n: 1000})`:                                 false, // known; round
		`submit({name: 'abc', n: 12})`:                                             false, // short
		`submit({name: 'place 1', n: 1})`:                                          false, // an input
	} {
		c := chore{
			signature: "id: str -> name: str, n: int", instructions: "Name it, or say unknown place.",
			agent:  `submit({name: {1: 'Zanzibar', 2: 'unknown place', 3: 'abc'}[id.at(-1)] ?? 'place 1', n: 73515})`,
			drafts: []string{code},
			question: func(i int) (in, want map[string]any) {
				name := []string{"place 1", "Zanzibar", "unknown place", "abc"}[i%4]
				return map[string]any{"id": fmt.Sprintf("place %d", i%4)},
					map[string]any{"name": name, "n": []int{73515, 1000, 12}[i%3]}
			},
		}
		lenient := func(context.Context, example, *module.Prediction[values]) (module.Score, error) {
			return module.Score{Value: 1}, nil
		}
		_, report, err := optimize.Compile(t.Context(), c.codeAct(t, c.model(), nil), c.examples(t, 20), lenient,
			&optimize.CompileOptions{Programs: 1})
		if len(report.Programs) == 0 {
			t.Fatal(err)
		}
		problem := report.Programs[0].Problem
		if refused != (err != nil) || refused != strings.HasPrefix(problem, "it contains expected answers: ") {
			t.Errorf("%s: got %v", code, err)
		}
	}
}

// remedy is the end of a message about expected answers.
const remedy = "; it must compute them from its constants and tools; if it has to know them, put them into the " +
	"instructions of the CodeAct, or give the CodeAct a tool that returns them"

// Expected answers of examples that were held out are counted, not named, since the model reads what is wrong.
func TestCompileNamesNoHeldOutAnswers(t *testing.T) {
	t.Parallel()
	c := chore{signature: "n: int -> name: str", agent: `submit({name: 'place' + n})`,
		question: func(i int) (in, want map[string]any) {
			return map[string]any{"n": i}, map[string]any{"name": fmt.Sprintf("place%d", i)}
		}}
	all := c.examples(t, 20)
	parts, err := evaluate.Split(all, 0, 0.5, 0.25, 0.25)
	if err != nil {
		t.Fatal(err)
	}
	list := func(examples []example) (names []string) {
		for _, e := range examples {
			name, _ := e.Want.Get("name")
			names = append(names, string(name))
		}
		slices.Sort(names)
		return names
	}
	train, heldOut := list(parts[0]), strings.Join(list(slices.Concat(parts[1], parts[2])), ", ")
	c.drafts = []string{
		`submit({name: [` + heldOut + `][n]})`, `submit({name: [` + heldOut + `, ` + train[3] + `][n]})`,
		`submit({name: [` + strings.Join(train, ", ") + `][n]})`,
	}
	_, report, err := optimize.Compile(t.Context(), c.codeAct(t, c.model(), nil), all,
		evaluate.ExactMatch[values, values](), &optimize.CompileOptions{Programs: len(c.drafts)})
	if err == nil {
		t.Fatal("no error")
	}
	for i, want := range []string{
		"10 of examples that are not shown", train[3] + " and 10 more", strings.Join(train[:5], ", ") + " and 5 more",
	} {
		want = "it contains expected answers: " + want + remedy
		if got := report.Programs[i].Problem; got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

// A program passes its own tests if its answers are right for the metric, but not equal to the expected ones.
func TestCompileLenientMetric(t *testing.T) {
	t.Parallel()
	code := `submit({name: 'place ' + n})`
	c := chore{signature: "n: int -> name: str", agent: code, drafts: []string{code},
		question: func(i int) (in, want map[string]any) {
			return map[string]any{"n": i}, map[string]any{"name": fmt.Sprintf("Place %d", i)}
		}}
	p, _, err := optimize.Compile(t.Context(), c.codeAct(t, c.model(), nil), c.examples(t, 20),
		evaluate.TextMatch[values, values]("name"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

// A program that needs judgement asks a model for it.
func TestCompileWithJudgement(t *testing.T) {
	t.Parallel()
	moods := []string{"good", "bad"}
	c := chore{
		signature: "review: str -> mood: Literal['good', 'bad']", instructions: "Judge the review.",
		drafts: []string{`submit(await llm('Is this good or bad?\n' + review, {type: 'object', required: ['mood'],
  properties: {mood: {enum: ['good', 'bad']}}}))`},
		question: func(i int) (in, want map[string]any) {
			review := fmt.Sprintf("Visit %d was %s.", i, []string{"a joy", "a bore"}[i%2])
			return map[string]any{"review": review}, map[string]any{"mood": moods[i%2]}
		},
	}
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		mood := moods[strings.Count(r.Last(), "a bore")%2]
		switch {
		case strings.Contains(r.Text(), asksForProgram):
			return llmtest.Reply{Text: fence(c.drafts[0])}, nil
		case strings.Contains(r.Last(), "Is this good or bad?"):
			return llmtest.Reply{Text: `{"mood": "` + mood + `"}`}, nil
		}
		return llmtest.Reply{Text: fence(`submit({mood: '` + mood + `'})`)}, nil
	})
	act := c.codeAct(t, model, nil)
	_, report, err := optimize.Compile(t.Context(), act, c.examples(t, 20), evaluate.ExactMatch[values, values](), nil)
	if err != nil {
		t.Fatal(err)
	}
	if calls := report.Programs[0].Test.Usage.Total().Calls; calls != 5 {
		t.Errorf("the test examples took %d calls", calls)
	}
}

// The report for people says what was tried.
func TestCompileReport(t *testing.T) {
	t.Parallel()
	c := chores["dates"]
	_, report, err := optimize.Compile(t.Context(), c.codeAct(t, c.model(), nil), c.examples(t, 20),
		evaluate.ExactMatch[values, values](), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `CodeAct, training examples: score 1
CodeAct, validation examples: score 1
CodeAct, test examples: score 1
program 1: it contains expected answers: "2022-03-03", "2023-04-04"` + remedy + `
program 2: accepted
  training examples: score 1
  validation examples: score 1
  test examples: score 1, 5 of 5 right; up to 46 % of all answers may be wrong
`
	if report.String() != want {
		t.Errorf("got\n%s", report)
	}
}
