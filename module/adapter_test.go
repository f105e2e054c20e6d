package module

import (
	"testing"

	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// TestProgramForm checks which predictors ask for one fenced block, and that a demo is read as it
// was written.
func TestProgramForm(t *testing.T) {
	t.Parallel()
	task := signature.Must(signature.New[struct{}, struct {
		Total int `json:"total"`
	}]("Add up.")).Spec()
	plan, err := signature.ParseField("plan: str")
	if err != nil {
		t.Fatal(err)
	}
	p := &Predictor{Spec: replies.ProgramSpec(task), task: task}
	if p.adapter() != (prompt.Program{}) {
		t.Errorf("the prompt for a program was written by %T", p.adapter())
	}
	more, err := p.Spec.AppendOutputs(plan)
	if err != nil {
		t.Fatal(err)
	}
	for name, other := range map[string]*Predictor{
		"further outputs": {Spec: more, task: task},
		"an adapter":      {Spec: p.Spec, task: task, Adapter: JSON()},
		"no task":         {Spec: p.Spec},
	} {
		if other.adapter() == (prompt.Program{}) {
			t.Errorf("%s: the prompt asks for a program", name)
		}
	}
	for _, code := range []string{"a()\nb()", "a(`\n```\n`)"} {
		want := signature.Values{{Name: "reasoning", JSON: replies.Quote("Look first.")},
			{Name: "code", JSON: replies.Quote(code)}}
		written := p.adapter().Answer(p.Spec, want)
		got, err := p.adapter().Read(p.Spec, written, false)
		if err != nil || got.String() != want.String() {
			t.Errorf("%s\nwas read as %s, %v", written, got, err)
		}
	}
}
