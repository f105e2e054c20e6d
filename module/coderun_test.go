package module_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
)

const noProgram = "Nothing was run: the reply has no program; write it in one ```js block."

// A reply without a fence is run if the check finds that it is a program, whatever the sandbox of the module is.
func TestUnfencedReply(t *testing.T) {
	t.Parallel()
	const program = `const total = 3; submit({total})`
	box := inProcess(t)
	failing := module.Script{Code: `await llm('x'); throw new Error('no')`}
	for name, newModule := range map[string]func(*llmtest.Model) module.Module[orders, sum]{
		"CodeAct": func(m *llmtest.Model) module.Module[orders, sum] {
			return module.NewCodeAct(adding, m, box, nil, nil)
		},
		"a session": func(m *llmtest.Model) module.Module[orders, sum] {
			return module.NewCodeAct(adding, m, box.NewSession(nil), nil, nil)
		},
		"Chat": func(m *llmtest.Model) module.Module[orders, sum] {
			return module.NewChat(adding, m, box, nil, nil)
		},
		"RLM": func(m *llmtest.Model) module.Module[orders, sum] { return module.NewRLM(adding, m, box, nil, nil) },
		"Program": func(m *llmtest.Model) module.Module[orders, sum] {
			p := module.NewCodeAct(adding, m, box, nil, nil).Program(failing)
			p.Sub.Model = llmtest.New("y")
			return p
		},
	} {
		model := llmtest.New("Done.", "1 + 1", `{"total": 3}`, program)
		pred, err := newModule(model).Run(t.Context(), anything)
		if err != nil || pred.Output.Total != 3 {
			t.Errorf("%s: got %v, %v", name, pred, err)
			continue
		}
		for i, r := range model.Requests()[1:] {
			if !strings.HasSuffix(strings.TrimSpace(r.Last()), noProgram) {
				t.Errorf("%s: after reply %d the model was told %q", name, i+1, r.Last())
			}
		}
		steps := pred.Trajectory.Steps
		for _, s := range steps[len(steps)-4 : len(steps)-1] {
			if s.Code != "" || s.Outcome != nil {
				t.Errorf("%s: %q was run as %q", name, s.Reply, s.Code)
			}
		}
	}
}

// untyped is a compiler of a language with types.
type untyped struct{}

func (untyped) Compile(_ context.Context, source string) (*sandbox.Compiled, error) {
	return &sandbox.Compiled{Source: strings.ReplaceAll(source, ": number", "        ")}, nil
}

// The check reads a reply without a fence in the language of the programs.
func TestUnfencedReplyInOtherLanguage(t *testing.T) {
	t.Parallel()
	model := llmtest.New(`const total: number = 3; submit({total})`)
	m := module.NewCodeAct(adding, model, inProcess(t), nil, &module.Options{Compiler: untyped{}})
	if pred, err := m.Run(t.Context(), anything); err != nil || pred.Output.Total != 3 {
		t.Errorf("got %v, %v", pred, err)
	}
}

// runOnly is a Sandbox that cannot check.
type runOnly struct {
	box *sandbox.Sandbox
	ran []string
}

func (b *runOnly) Run(ctx context.Context, p sandbox.Program) (*sandbox.Outcome, error) {
	b.ran = append(b.ran, p.Source)
	return b.box.Run(ctx, p)
}

// Without a check, only a program in a fence is run.
func TestUnfencedReplyWithoutCheck(t *testing.T) {
	t.Parallel()
	const program = `submit({total: 3})`
	box, model := &runOnly{box: inProcess(t)}, llmtest.New(program, fence(program))
	mustRun(t, module.NewCodeAct(adding, model, box, nil, nil), anything)
	told := model.Requests()[1].Last()
	if !slices.Equal(box.ran, []string{program}) || !strings.Contains(told, noProgram) {
		t.Errorf("ran %q; the model was told %q", box.ran, told)
	}
}
