package agent_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/signature"
)

func inputs(list ...string) (all signature.Values) {
	for i := 0; i < len(list); i += 2 {
		all = append(all, signature.Value{Name: list[i], JSON: json.RawMessage(list[i+1])})
	}
	return all
}

// The last program of a run becomes a script, whose inputs replace whole constants.
func TestNewScript(t *testing.T) {
	t.Parallel()
	p, dir := &post{}, t.TempDir()
	set := p.tools(t)
	run, err := perform(t, set, `1`, `// "ann" and 2
const all = {name: "ann", "ann": 'ann'}, n = 2, o = {n: 2.0, ann: /"ann"/.test("ann2") ? "ann" : 0x2};
const pick = k => { switch (k) { case"ann": return"ann"; default: return `+"`ann ${\"ann\"in all}`"+` } };
submit({answer: await send({name: pick("\x61nn") + all.ann + "ann".length / n + o.n})})`)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(run)
	if err == nil {
		err = json.Unmarshal(raw, &run) // as from a file
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := agent.NewScript(t.Context(), run, "Greet Ann.", inputs("name", `"ann"`, "two", "2"), set, open(t))
	if err != nil {
		t.Fatal(err)
	}
	want := `// "ann" and 2
const all = {name: name, "ann": name}, n = two, o = {n: two, ann: /"ann"/.test("ann2") ? name : 0x2};
const pick = k => { switch (k) { case name: return name; default: return ` + "`ann ${name in all}`" + ` } };
submit({answer: await send({name: pick("\x61nn") + all.ann + name.length / n + o.n})})`
	if s.Code != want {
		t.Errorf("got\n%s\nwant\n%s", s.Code, want)
	}
	if s.Signature != "name: str, two: int -> answer: str" ||
		s.Instructions != "Greet Ann." || len(s.Tools) != 1 || s.From == "" {
		t.Errorf("got %+v", s)
	}
	var text bytes.Buffer
	if err := s.Write(&text); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "greet.js", text.String())
	const program = `submit({answer: (await programs.greet({name: "bob", two: 1})).answer})`
	if run, err = perform(t, withPrograms(t, set, dir), program); err != nil || p.sent.Load() != 2 {
		t.Errorf("%v, %v", run, err)
	}
}

// What cannot become a script is an error that says why.
func TestNewScriptErrors(t *testing.T) {
	t.Parallel()
	set := (&post{}).tools(t)
	run, err := perform(t, set, `const who = "ann", o = {who: 1};
submit({answer: await send({name: who + "b"})})`)
	if err != nil {
		t.Fatal(err)
	}
	failed, err := perform(t, set, `null.x`)
	if err == nil {
		t.Fatal("the run has an answer")
	}
	task, err := perform(t, set, `submit({answer: task})`)
	if err != nil {
		t.Fatal(err)
	}
	broken := run
	broken.Steps = []module.Step{run.Steps[0]}
	broken.Steps[0].Code = "submit({answer: '"
	for _, test := range []struct {
		run    module.Trajectory
		inputs signature.Values
		want   string
	}{
		{run, inputs("name", `"bob"`), `does not have the constant "bob" of the input name; it has: "ann", 1, "b"`},
		{run, inputs("name", `"an"`), `does not have the constant "an"`},
		{run, inputs("who", `"ann"`), "the program has its own who; choose another name for the input"},
		{run, inputs("a", `"ann"`, "b", `"ann"`), "the inputs a and b have the same constant"},
		{run, inputs("a", `"ann"`, "a", `"b"`), "a"},
		{run, inputs("a b", `"ann"`), `column 3`},
		{run, inputs("await", `"ann"`), "await"},
		{run, inputs("send", `"ann"`), "the program has its own send"},
		{run, inputs("a", `true`), "the constant true is neither a string nor a number"},
		{run, inputs("a", `"`), "JSON"},
		{failed, nil, "no program that gave its answer"},
		{module.Trajectory{}, nil, "no program that gave its answer"},
		{task, nil, "task is not defined"},
		{broken, inputs("a", "1"), "the program cannot be read from"},
	} {
		_, err := agent.NewScript(t.Context(), test.run, "Greet.", test.inputs, set, open(t))
		if err == nil || !strings.HasPrefix(err.Error(), "agent: the script: ") ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: got %v, want %s", test.inputs, err, test.want)
		}
	}
}
