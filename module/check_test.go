package module_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// even is a sum that must be even.
type even struct {
	Total int `json:"total"`
}

var errOdd = errors.New("the total is odd")

func (e even) Validate() error {
	if e.Total%2 == 1 {
		return fmt.Errorf("%w: %d", errOdd, e.Total)
	}
	return nil
}

var evenly = signature.Must(signature.New[orders, even]("Add up to an even number."))

func marked(total int) string {
	return fmt.Sprintf("[[ ## total ## ]]\n%d\n\n[[ ## completed ## ]]", total)
}

func submitted(total int) string { return fence(fmt.Sprintf("submit({total: %d})", total)) }

// checkers returns modules of all kinds, whose model answers with the totals.
func checkers(
	t *testing.T, sig *signature.Signature[orders, even], o module.Options, totals ...int,
) map[string]module.Module[orders, even] {
	t.Helper()
	scripted := func(write func(total int) string) *llmtest.Model {
		var list []string
		for _, total := range totals {
			list = append(list, write(total))
		}
		return llmtest.New(list...)
	}
	object := func(total int) string { return fmt.Sprintf(`{"total": %d}`, total) }
	explained := func(total int) string { return "[[ ## reasoning ## ]]\nSo.\n\n" + marked(total) }
	call := func(total int) string { return action("submit", object(total)) }
	asJSON := o
	asJSON.Adapter = module.JSON()
	calling := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N > len(totals) {
			return llmtest.Reply{}, errors.New("the script has ended")
		}
		id := fmt.Sprint("c", r.N)
		return llmtest.Reply{ToolCalls: []llms.ToolCall{{ID: id, Type: "function",
			FunctionCall: &llms.FunctionCall{Name: "submit", Arguments: object(totals[r.N-1])}}}}, nil
	}).With(models.Capabilities{Tools: true})
	box := inProcess(t)
	programs := module.NewCodeAct(sig, scripted(submitted), box, nil, &o)
	sample := module.NewPredict(signature.Must(signature.New[orders, even]("")), llmtest.Func(
		func(context.Context, llmtest.Request) (llmtest.Reply, error) {
			return llmtest.Reply{Text: marked(2)}, nil
		}), nil)
	return map[string]module.Module[orders, even]{
		"Markers":              module.NewPredict(sig, scripted(marked), &o),
		"JSON":                 module.NewPredict(sig, scripted(object), &asJSON),
		"Native":               module.NewPredict(sig, scripted(object).With(models.Capabilities{Schema: true}), &o),
		"ChainOfThought":       module.NewChainOfThought(sig, scripted(explained), &o),
		"MultiChainComparison": module.NewMultiChainComparison(sig, sample, 2, scripted(explained), &o),
		"ReAct":                module.NewReAct(sig, scripted(call), nil, &o),
		"ReAct with calls":     module.NewReAct(sig, calling, nil, &o),
		"CodeAct":              programs,
		"ProgramOfThought":     module.NewProgramOfThought(sig, scripted(submitted), box, &o),
		"RLM":                  module.NewRLM(sig, scripted(submitted), box, nil, &module.RLMOptions{Options: o}),
		"Chat":                 module.NewChat(sig, scripted(submitted), box, nil, &o),
		"Program": module.NewCodeAct(sig, scripted(submitted), box, nil, &o).Program(
			module.Script{Code: "submit({total: 7})"}),
	}
}

// What a check says is told to the model, which then gives another answer.
func TestChecksInModules(t *testing.T) {
	t.Parallel()
	small := evenly.WithCheck(func(ctx context.Context, out even) error {
		if out.Total > 5 {
			return fmt.Errorf("%d is too large", out.Total)
		}
		return nil
	})
	for name, m := range checkers(t, small, module.Options{Retries: 2, MaxIters: 2}, 3, 8, 4) {
		pred, err := m.Run(t.Context(), anything)
		if err != nil || pred.Output.Total != 4 {
			t.Errorf("%s: got %v, %v", name, pred, err)
			continue
		}
		var told string
		for _, s := range pred.Trajectory.Steps {
			told += s.Observation + "\n"
		}
		if !strings.Contains(told, "the total is odd: 3") || !strings.Contains(told, "8 is too large") {
			t.Errorf("%s: the model was told:\n%s", name, told)
		}
	}
}

// A check that accepts nothing ends the run when the attempts are used up. The error has its last message.
func TestCheckThatNeverAccepts(t *testing.T) {
	t.Parallel()
	never := evenly.WithCheck(func(_ context.Context, out even) error { return fmt.Errorf("not %d", out.Total) })
	for name, m := range checkers(t, never, module.Options{Retries: -1, MaxIters: 1, FreeTurns: -1}, 2, 4, 6) {
		_, err := m.Run(t.Context(), anything)
		part, ok := errors.AsType[*module.IncompleteError](err)
		wanted := errors.Is(err, module.ErrNoAnswer) || errors.Is(err, module.ErrMaxIters)
		if !ok || !wanted || !strings.Contains(err.Error(), "not 2") {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		last := part.Trajectory.Steps[len(part.Trajectory.Steps)-1]
		if !strings.Contains(last.Reply+fmt.Sprint(last.Code), "2") {
			t.Errorf("%s: the trajectory does not have the answer: %+v", name, last)
		}
	}
}

func TestRetries(t *testing.T) {
	t.Parallel()
	for retries, want := range map[int]int{0: 2, 1: 2, -1: 1, 4: 5} {
		m := module.NewPredict(evenly, llmtest.New(marked(1), marked(3), marked(5), marked(7), marked(9)),
			&module.Options{Retries: retries})
		_, err := module.Clone(m).Run(t.Context(), anything)
		part, _ := errors.AsType[*module.IncompleteError](err)
		if part == nil || len(part.Trajectory.Steps) != want || !errors.Is(err, errOdd) ||
			!strings.HasSuffix(err.Error(), fmt.Sprint("the total is odd: ", 2*want-1)) {
			t.Errorf("%d retries: got %v", retries, err)
		}
	}
}

// Errors that the model cannot fix, and panics, end the run.
func TestChecksThatEndTheRun(t *testing.T) {
	t.Parallel()
	broken := errors.New("the database is gone")
	var canceled context.CancelFunc
	for why, c := range map[string]struct {
		check func(ctx context.Context, out even) error
		want  error
	}{
		"Fatal":    {func(context.Context, even) error { return tools.Fatal(broken) }, broken},
		"HostOnly": {func(context.Context, even) error { return fmt.Errorf("no: %w", tools.HostOnly(broken)) }, broken},
		"canceled": {func(ctx context.Context, _ even) error {
			canceled()
			<-ctx.Done()
			return broken
		}, context.Canceled},
		"a deadline of its own": {
			func(context.Context, even) error { return context.DeadlineExceeded }, context.DeadlineExceeded},
		"panic": {func(context.Context, even) error { panic(broken) }, broken},
	} {
		for name, m := range checkers(t, evenly.WithCheck(c.check), module.Options{}, 2, 2, 2) {
			var ctx context.Context
			ctx, canceled = context.WithCancel(t.Context())
			_, err := m.Run(ctx, anything)
			canceled()
			part, ok := errors.AsType[*module.IncompleteError](err)
			_, panicked := errors.AsType[*models.PanicError](err)
			if !ok || !errors.Is(err, c.want) && !panicked || panicked != (why == "panic") {
				t.Errorf("%s, %s: got %v", why, name, err)
				continue
			}
			if steps := part.Trajectory.Steps; len(steps) != 1 && name != "Program" {
				t.Errorf("%s, %s: %d steps", why, name, len(steps))
			}
		}
	}
}

// An answer that a check rejects leaves the step open: the next program gets the results of the effects that it asks
// for again, and they happen once.
func TestCheckAfterEffects(t *testing.T) {
	t.Parallel()
	paid := 0
	set := toolSet(t, tools.Func("pay", "Pays.", func(context.Context, struct{}) (int, error) {
		paid++
		return 3, nil
	}, &tools.Hints{Destructive: true}))
	model := llmtest.New(fence("submit({total: await pay({})})"),
		fence("const n = await pay({});\nsubmit({total: n + 1})"))
	act := module.NewCodeAct(evenly, model, inProcess(t), set, &module.Options{MaxIters: 1})
	pred, err := act.Run(t.Context(), anything)
	if err != nil || pred.Output.Total != 4 || paid != 1 || len(pred.Trajectory.Orphans) > 0 {
		t.Errorf("got %v, %v after %d payments", pred, err, paid)
	}
}

// A repeated answer costs a step, so a model that insists does not use up the free turns.
func TestCheckedAnswerRepeated(t *testing.T) {
	t.Parallel()
	for name, m := range checkers(t, evenly, module.Options{MaxIters: 2, Retries: 2}, 3, 3, 3, 3) {
		_, err := m.Run(t.Context(), anything)
		part, ok := errors.AsType[*module.IncompleteError](err)
		if !ok {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		if n := len(part.Trajectory.Steps); n > 4 {
			t.Errorf("%s: %d steps", name, n)
		}
	}
}

// The last step of a run that has used up its steps is checked, too.
func TestCheckOfExtracted(t *testing.T) {
	t.Parallel()
	for total, want := range map[int]string{4: "", 3: "the total is odd: 3"} {
		model := llmtest.New(fence("1"), marked(total))
		m := module.NewCodeAct(evenly, model, inProcess(t), nil, &module.Options{MaxIters: 1, Extract: true})
		pred, err := m.Run(t.Context(), anything)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d: got %v, %v", total, pred, err)
		}
	}
}

// A long message is shortened before the model sees it.
func TestLongCheck(t *testing.T) {
	t.Parallel()
	long := evenly.WithCheck(func(context.Context, even) error { return errors.New(strings.Repeat("long ", 10_000)) })
	_, err := module.NewPredict(long, llmtest.New(marked(2), marked(2)), nil).Run(t.Context(), anything)
	part, _ := errors.AsType[*module.IncompleteError](err)
	if part == nil || len(part.Trajectory.Steps[0].Observation) > 5000 {
		t.Errorf("got %v", err)
	}
	if _, err := json.Marshal(part.Trajectory); err != nil {
		t.Error(err)
	}
}
