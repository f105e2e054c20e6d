package module_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
)

// learned returns a module with a state.
func learned(t testing.TB) *judges {
	t.Helper()
	m := twoJudges(llmtest.New())
	warm := 0.7
	m.Shorten.Predictor.Spec = m.Shorten.Predictor.Spec.WithInstructions(
		"Shorten <the> review & keep what is \"bad\".\nIn one line …",
	)
	m.Shorten.Predictor.Hint = "Be brief."
	m.Shorten.Predictor.Demos = []module.Demo{
		{
			Inputs:  values(t, `{"text": "Broke twice. Bought it in May."}`),
			Outputs: values(t, `{"note": "Broke twice.", "lang": null}`),
		},
		{Inputs: values(t, `{"text": "Nice <3"}`), Outputs: values(t, `{"note": ""}`)},
	}
	m.Judge.Predictor.Temperature = &warm
	m.Judge.Predictor.System = "You are a judge."
	m.Judge.Predictor.Demos = []module.Demo{{Outputs: values(t, `{"score": 1e-3}`)}}
	spec, err := m.Judge.Predictor.Spec.WithDescription("mood", "of the customer")
	if err == nil {
		spec, err = spec.WithDescription("text", "")
	}
	if err != nil {
		t.Fatal(err)
	}
	m.Judge.Predictor.Spec = spec
	return m
}

func values(t testing.TB, object string) (v signature.Values) {
	t.Helper()
	if err := v.UnmarshalJSON([]byte(object)); err != nil {
		t.Fatal(err)
	}
	return v
}

func save(t testing.TB, m any) string {
	t.Helper()
	var b bytes.Buffer
	if err := module.Save(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func golden(t testing.TB, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "state", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// The format of states is fixed: the files in testdata/state are saved as the same bytes, and every later version can
// load them.
func TestStateGolden(t *testing.T) {
	t.Parallel()
	act := module.NewCodeAct(adding, llmtest.New(), inProcess(t), nil, nil)
	act.Predictor.Demos = []module.Demo{
		{Inputs: values(t, `{"limit": 2}`), Outputs: values(t, `{"reasoning": "Easy.", "code": "submit({total: 2})"}`)},
	}
	long := module.Clone(act)
	long.Predictor.Demos[0].Steps = []module.DemoStep{
		{Outputs: values(t, `{"code": "console.log(limit)"}`), Observation: "Output:\n2"},
	}
	for _, test := range []struct {
		name     string
		m, fresh any
	}{
		{"judges.json", learned(t), twoJudges(llmtest.New())},
		{"predict.json", module.NewPredict(adding, llmtest.New(), nil), newSum()},
		{"codeact.json", act, module.NewCodeAct(adding, llmtest.New(), inProcess(t), nil, nil)},
		{"codeact_steps.json", long, module.NewCodeAct(adding, llmtest.New(), inProcess(t), nil, nil)},
		{"refine.json", module.NewRefine(learned(t), 2, sureOf(""), 1, nil),
			module.NewRefine(twoJudges(llmtest.New()), 2, sureOf(""), 1, nil)},
	} {
		if *update {
			if err := os.WriteFile(filepath.Join("testdata", "state", test.name), []byte(save(t, test.m)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want := golden(t, test.name)
		if got := save(t, test.m); got != want {
			t.Errorf("%s: saved was\n%s", test.name, got)
		}
		if err := module.Load(strings.NewReader(want), test.fresh); err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := save(t, test.fresh); got != want {
			t.Errorf("%s: after it was loaded, saved was\n%s", test.name, got)
		}
	}
}

// A module that is loaded sends the prompts that it sent before it was saved.
func TestLoadKeepsPrompts(t *testing.T) {
	t.Parallel()
	replies := []string{
		"[[ ## note ## ]]\nBroke.\n\n[[ ## completed ## ]]",
		`{"mood": "bad", "score": 1, "returned": true}`,
	}
	ask := func(saved string) string {
		model := llmtest.New(replies...)
		m := twoJudges(model)
		if err := module.Load(strings.NewReader(saved), m); err != nil {
			t.Fatal(err)
		}
		mustRun(t, m, broken)
		return asked(model)
	}
	model := llmtest.New(replies...)
	m := learned(t)
	m.Shorten.Predictor.Model, m.Judge.Predictor.Model = model, model
	mustRun(t, m, broken)
	if got, want := ask(save(t, m)), asked(model); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Loading clears what the state lacks, so only the last state counts.
func TestLoadReplaces(t *testing.T) {
	t.Parallel()
	m := learned(t)
	plain := save(t, twoJudges(llmtest.New()))
	if err := module.Load(strings.NewReader(plain), m); err != nil {
		t.Fatal(err)
	}
	if got := save(t, m); got != plain {
		t.Errorf("got\n%s\nwant\n%s", got, plain)
	}
}

type (
	// less has a predictor less than judges.
	less struct {
		Shorten *module.Predict[review, note]
	}
	// reshaped has the predictors of judges, one of which has another output.
	reshaped struct{ Shorten, Judge *module.Predict[review, note] }
)

// If a part of a state does not fit, nothing is changed.
func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	good := golden(t, "judges.json")
	edit := func(from, to string) string {
		if strings.Count(good, from) < 1 {
			t.Errorf("the state has no %q", from)
		}
		return strings.Replace(good, from, to, 1)
	}
	two := twoJudges(llmtest.New())
	for _, test := range []struct {
		name  string
		m     any
		state string
		want  string
	}{
		{"nothing", two, "", "module: load: not a saved state: unexpected end of JSON input"},
		{"no JSON", two, "judges",
			"module: load: not a saved state: invalid character 'j' looking for beginning of value"},
		{"no version", two, "{}", "module: load: the state has version 0, but this program reads version 1"},
		{"a list", two, "[]",
			"module: load: not a saved state: json: cannot unmarshal array into Go value of type struct { Version int }"},
		{"a later version", two, edit(`"version": 1`, `"version": 2`),
			"module: load: the state has version 2, but this program reads version 1"},
		{"two states", two, good + good,
			"module: load: not a saved state: invalid character '{' after top-level value"},
		{"an unknown part", two, edit(`"version": 1`, `"version": 1, "keys": []`),
			`module: load: json: unknown field "keys"`},
		{"a predictor twice", two, edit(`"Judge": {`, `"Shorten": {`),
			`module: load: signature: the value of "Shorten" is given twice`},
		{"another predictor", two, edit(`"Judge": {`, `"Jury": {`),
			"module: load: the state has no predictor Judge; the state is for a different module"},
		{"an additional predictor", &less{two.Shorten}, good,
			"module: load: *module_test.less has no predictor Judge; the state is for a different module"},
		{"another signature", &reshaped{twoJudges(nil).Shorten, twoJudges(nil).Shorten}, good,
			"module: load Judge: the state was saved with a different signature: the output lang is new, the output " +
				"note is new, the output mood is missing, the output returned is missing, the output score is missing"},
		{"an unknown part of a predictor", two, edit(`"hint":`, `"hunt":`),
			`module: load Shorten: json: unknown field "hunt"`},
		{"a temperature that is too low", two, edit(`"hint":`, `"temperature": -1e300, "hint":`),
			`module: load Shorten: the temperature -1e+300 is not between 0 and 100`},
		{"a temperature that is too high", two, edit(`"hint":`, `"temperature": 101, "hint":`),
			`module: load Shorten: the temperature 101 is not between 0 and 100`},
		{"a demo of another predictor", two, edit(`"demos": [`, `"demos": [{"input": {}}, `),
			`module: load Shorten: json: unknown field "input"`},
		{"no predictor", two, edit(`"Judge": {`, `"Judge": null, "Jury": {`),
			`module: load Judge: the instructions are missing`},
		{"no instructions", two, edit(`"instructions": "Shorten`, `"system": "Shorten`),
			`module: load Shorten: the instructions are missing`},
		{"null as instructions", two, edit(`"instructions": "Shorten`, `"instructions": null, "system": "Shorten`),
			`module: load Shorten: the instructions are missing`},
		{"an unknown field of a demo", two, edit(`"note": "Broke twice."`, `"nota": "Broke twice."`),
			`module: load Shorten: demo 1: the signature has no output "nota"`},
		{"an input as output", two, edit(`"note": "Broke twice."`, `"text": "Broke twice."`),
			`module: load Shorten: demo 1: the signature has no output "text"`},
		{"a value that does not fit", two, edit(`"score": 1e-3`, `"score": 3`),
			`module: load Judge: demo 1: the output "score": the value must be at most 1, not 3`},
		{"a description of a missing field", two, edit(`"mood": "of the`, `"mode": "of the`),
			`module: load Judge: the state describes "mode", which is not a field`},
	} {
		before := save(t, test.m)
		err := module.Load(strings.NewReader(test.state), test.m)
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
		if after := save(t, test.m); after != before {
			t.Errorf("%s: something was changed:\n%s", test.name, after)
		}
	}
}

// Save does not write what Load would refuse.
func TestSaveRefuses(t *testing.T) {
	t.Parallel()
	hot := math.Inf(1)
	for _, test := range []struct {
		name   string
		change func(p *module.Predictor)
		want   string
	}{
		{"no signature", func(p *module.Predictor) { p.Spec = nil },
			"module: save Judge: module: the signature is missing; create one with signature.New"},
		{"an unknown field", func(p *module.Predictor) { p.Demos = []module.Demo{{Inputs: values(t, `{"txt": ""}`)}} },
			`module: save Judge: demo 1: the signature has no input "txt"`},
		{"a field twice", func(p *module.Predictor) {
			p.Demos = []module.Demo{{}, {Inputs: append(values(t, `{"text": ""}`), values(t, `{"text": ""}`)...)}}
		}, `module: save Judge: demo 2: the input "text" is given twice`},
		{"a value that does not fit", func(p *module.Predictor) {
			p.Demos = []module.Demo{{Outputs: values(t,
				`{"mood": 1}`)}}
		}, `module: save Judge: demo 1: the output "mood": the value must be a string, not 1`},
		{"no number", func(p *module.Predictor) { p.Temperature = &hot },
			"module: save Judge: the temperature +Inf is not between 0 and 100"},
	} {
		m := learned(t)
		test.change(m.Judge.Predictor)
		var b bytes.Buffer
		if err := module.Save(&b, m); err == nil || err.Error() != test.want || b.Len() > 0 {
			t.Errorf("%s: got %v and %d bytes, want %s", test.name, err, b.Len(), test.want)
		}
	}
	if err := module.Save(
		io.Discard,
		hidden{},
	); err == nil ||
		err.Error() != "module: save: no Predictors found in module_test.hidden; export the fields that hold its modules" {
		t.Errorf("got %v", err)
	}
	if err := module.Save(full{}, newSum()); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("got %v", err)
	}
	if err := module.Load(iotest.ErrReader(io.ErrUnexpectedEOF), newSum()); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
}

// full is a writer without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// Models, tools and options are not part of a state.
func TestStateHasNoSecrets(t *testing.T) {
	t.Parallel()
	model := struct {
		*llmtest.Model
		Token, BaseURL string
	}{llmtest.New(), "sk-secret", "https://endpoint.example/v1"}
	p := module.NewPredict(adding, model, &module.Options{CallOptions: []llms.CallOption{llms.WithModel("other")}})
	if got, want := save(t, p), save(t, newSum()); got != want {
		t.Errorf("got\n%s", got)
	}
}

// Load refuses a damaged state and changes nothing, or the loaded state is saved as the same bytes.
func FuzzLoad(f *testing.F) {
	for _, name := range []string{"judges.json", "predict.json"} {
		raw := golden(f, name)
		f.Add([]byte(raw))
		for i := range 20 {
			f.Add([]byte(raw[:len(raw)*i/20]))
		}
	}
	f.Add([]byte(`{"version": 1, "predictors": {}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m := learned(t)
		before := save(t, m)
		if err := module.Load(bytes.NewReader(raw), m); err != nil {
			if after := save(t, m); after != before {
				t.Errorf("%v, but something was changed:\n%s", err, after)
			}
			return
		}
		once := save(t, m)
		again := twoJudges(nil)
		if err := module.Load(strings.NewReader(once), again); err != nil {
			t.Fatalf("what was saved cannot be loaded: %v\n%s", err, once)
		}
		if twice := save(t, again); twice != once || !json.Valid([]byte(once)) {
			t.Errorf("saved was\n%s\nand then\n%s", once, twice)
		}
	})
}

// Whatever is saved can be loaded unchanged.
func FuzzSave(f *testing.F) {
	f.Add("Judge.", "", "Be <brief> & exact\u2028", `"a \\" \ud83d"`, 0.5)
	f.Add("\xff\x00", "\xc3\x28", "\ufffd", `null`, 1e300)
	f.Fuzz(func(t *testing.T, instructions, description, hint, answer string, temperature float64) {
		m := newSum()
		p := m.Predictor
		spec, err := p.Spec.WithInstructions(instructions).WithDescription("limit", description)
		if err != nil {
			t.Skip(err)
		}
		p.Spec, p.Hint, p.System, p.Temperature = spec, hint, description, &temperature
		p.Demos = []module.Demo{{Outputs: signature.Values{{Name: "total", JSON: json.RawMessage(answer)}}}}
		var b bytes.Buffer
		if err := module.Save(&b, m); err != nil {
			if b.Len() > 0 {
				t.Errorf("%v, but something was written", err)
			}
			return
		}
		again := newSum()
		if err := module.Load(bytes.NewReader(b.Bytes()), again); err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		if twice := save(t, again); twice != b.String() {
			t.Errorf("saved was\n%s\nand then\n%s", b.String(), twice)
		}
	})
}

// A state of a module that writes programs cannot be loaded for another task, although the prompt
// for a program is the same.
func TestStateOfAnotherTask(t *testing.T) {
	t.Parallel()
	box := inProcess(t)
	state := save(t, module.NewCodeAct(adding, llmtest.New(), box, nil, nil))
	err := module.Load(strings.NewReader(state), module.NewCodeAct(grading, llmtest.New(), box, nil, nil))
	want := "module: load Predictor: the state was saved with a different signature: the task input context is new, " +
		"the task input question is new, the task output answer is new, the task output score is new, the task input " +
		"limit is missing, the task output total is missing"
	wantError(t, err, want)
}

func TestLoadSaysWhichFieldDiffers(t *testing.T) {
	t.Parallel()
	predict := func(text string) *module.Predict[signature.Values, signature.Values] {
		return module.NewPredict(signature.Must(signature.Parse(text, "")), llmtest.New(), nil)
	}
	state := save(t, predict("a: str, b: int -> c: str"))
	for text, want := range map[string]string{
		"a: str, b: float -> c: str":       "the input b has a different type or different constraints",
		"a: str, b: int(ge=1) -> c: str":   "the input b has a different type or different constraints",
		"a: str, b: int -> c: str | None":  "the output c has a different type or different constraints",
		"a: str -> c: str, b: int":         "the output b is new, the input b is missing",
		"b: int, a: str -> c: str":         "its fields are in a different order",
		"a: str, b: int -> c: str, d: str": "the output d is new",
	} {
		err := module.Load(strings.NewReader(state), predict(text))
		const differs = "module: load Predictor: the state was saved with a different signature: "
		if err == nil || err.Error() != differs+want {
			t.Errorf("%s: got %v", text, err)
		}
	}
}
