package evaluate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

type Complaint struct {
	Order string `json:"order"`
}

type Settled struct {
	Said string `json:"said"`
}

var settling = signature.Must(signature.New[Complaint, Settled]("Settle the complaint."))

// shop is an agent that looks an order up and refunds it, with counts of the calls that reach the tools.
type shop struct {
	Agent           *module.ReAct[Complaint, Settled]
	lookups, grants atomic.Int32
}

func (s *shop) Run(ctx context.Context, in Complaint) (*module.Prediction[Settled], error) {
	return s.Agent.Run(ctx, in)
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{}
	set, err := tools.NewSet(t.Context(),
		tools.Func("lookup", "Looks an order up.", func(_ context.Context, c Complaint) (string, error) {
			s.lookups.Add(1)
			return "order " + c.Order, nil
		}, &tools.Hints{Class: tools.Read}),
		tools.Func("refund", "Refunds an order.", func(_ context.Context, c Complaint) (string, error) {
			return fmt.Sprintf("refund %d of %s", s.grants.Add(1), c.Order), nil
		}, &tools.Hints{Class: tools.Effect}))
	if err != nil {
		t.Fatal(err)
	}
	s.Agent = module.NewReAct(settling, clerk(), set, nil)
	return s
}

// clerk is a model that looks the order up, refunds it, and says what it was told last.
func clerk() llms.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		order := "a1"
		if strings.Contains(r.Text(), "b2") {
			order = "b2"
		}
		step := func(tool, args string) (llmtest.Reply, error) {
			return llmtest.Reply{Text: "[[ ## thought ## ]]\nNext.\n\n[[ ## tool ## ]]\n" + tool +
				"\n\n[[ ## args ## ]]\n" + args + "\n\n[[ ## completed ## ]]"}, nil
		}
		switch len(r.Messages) {
		case 2:
			return step("lookup", `{"order": "`+order+`"}`)
		case 4:
			return step("refund", `{"order": "`+order+`"}`)
		}
		said, err := json.Marshal(r.Last())
		if err != nil {
			return llmtest.Reply{}, err
		}
		return step("submit", `{"said": `+string(said)+`}`)
	})
}

var complaints = []evaluate.Example[Complaint, Settled]{
	{ID: "a", In: Complaint{"a1"}, Want: Settled{"refund"}},
	{ID: "b", In: Complaint{"b2"}, Want: Settled{"refund"}},
}

func evaluateShop(t *testing.T, s *shop, policy tools.Policy) (*evaluate.Report, error) {
	t.Helper()
	return evaluate.Evaluate(t.Context(), s, complaints, evaluate.Contains[Complaint, Settled](),
		&evaluate.Options{Workers: 1, Policy: policy, MaxErrors: -1})
}

func TestPolicyIsRequired(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	r, err := evaluateShop(t, s, nil)
	contains(t, err, "the module has tools with effects: refund of Agent; set Options.Policy to Fakes, Recorded or Refuse")
	contains(t, err, "unclassified tools count as tools with effects, so set Hints.Class to tools.Read if")
	if r != nil || s.lookups.Load() != 0 {
		t.Error("the module was run")
	}
}

// concealed is a module whose tools module.Tools does not list.
type concealed[In, Out any] struct {
	run func(context.Context, In) (*module.Prediction[Out], error)
}

func (c concealed[In, Out]) Run(ctx context.Context, in In) (*module.Prediction[Out], error) {
	return c.run(ctx, in)
}

func TestHiddenToolIsRefused(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	r, err := evaluate.Evaluate(t.Context(), concealed[Complaint, Settled]{s.Agent.Run}, complaints,
		evaluate.Contains[Complaint, Settled](), &evaluate.Options{MaxErrors: -1})
	if err != nil || r.Errors != 2 || !strings.Contains(r.Results[0].Err, "refund was not called, since it has effects") {
		t.Errorf("got %v, %v", r, err)
	}
	if s.lookups.Load() != 2 || s.grants.Load() != 0 {
		t.Errorf("%d lookups, %d refunds", s.lookups.Load(), s.grants.Load())
	}
}

func TestPolicies(t *testing.T) {
	t.Parallel()
	fake := tools.Func("refund", "", func(_ context.Context, c Complaint) (string, error) {
		return "fake refund of " + c.Order, nil
	}, nil).Handler
	for _, test := range []struct {
		name            string
		policy          tools.Policy
		lookups, grants int32
		errors          int
		said            string
	}{
		{"act", evaluate.Act, 2, 2, 0, "refund 1 of a1"},
		{"refuse effects", evaluate.Refuse(), 2, 0, 0, "this tool cannot be called now"},
		{"refuse reads, and nothing about effects", evaluate.Refuse(tools.Read), 0, 0, 2, ""},
		{"fake", evaluate.Fakes(map[string]tools.Handler{"refund": fake}), 2, 0, 0, "fake refund of a1"},
		{"fake of another tool", evaluate.Fakes(map[string]tools.Handler{"lookup": fake}), 0, 0, 2, ""},
		{"fake one, act otherwise", evaluate.Chain(evaluate.Fakes(map[string]tools.Handler{"lookup": fake}), evaluate.Act),
			0, 2, 0, "refund 1 of a1"},
	} {
		s := newShop(t)
		r, err := evaluateShop(t, s, test.policy)
		if err != nil || r.Errors != test.errors || !strings.Contains(string(r.Results[0].Got), test.said) {
			t.Errorf("%s: got %v, %s, %v", test.name, r, r.Results[0].Got, err)
		}
		if s.lookups.Load() != test.lookups || s.grants.Load() != test.grants {
			t.Errorf("%s: %d lookups, %d refunds", test.name, s.lookups.Load(), s.grants.Load())
		}
	}
}

// A fake with a misspelt name does not replace the tool.
func TestMisspeltFake(t *testing.T) {
	t.Parallel()
	known := func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`"known"`), nil
	}
	fakes := map[string]tools.Handler{"refnd": nil, "lookup": known}
	r, err := evaluateShop(t, newShop(t), evaluate.Fakes(fakes))
	if err != nil || !strings.HasSuffix(r.Results[0].Err, `use exactly this name (the fakes are ["lookup" "refnd"])`) {
		t.Errorf("got %s, %v", r.Results[0].Err, err)
	}
}

// A fake or a recording whose result is not what the tool returns is the mistake of the caller, not of the model.
func TestWrongResults(t *testing.T) {
	t.Parallel()
	returns := func(result string) tools.Policy {
		return evaluate.Fakes(map[string]tools.Handler{
			"refund": func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(result), nil },
		})
	}
	const lookup = `{"tool": "lookup", "args": {"order": "a1"}, "result": "known"}` + "\n"
	recorded, err := evaluate.Recorded(strings.NewReader(
		lookup + `{"tool": "refund", "args": {"order": "a1"}, "result": {"id": 3}}`))
	if err != nil {
		t.Fatal(err)
	}
	for want, policy := range map[string]tools.Policy{
		"evaluate: the fake of refund returned 3, but the value must be a string, not 3":          returns("3"),
		"evaluate: the fake of refund returned nothing, but the value must be a string, not null": returns(""),
		`evaluate: the recorded result of refund({"order":"a1"}) does not match the tool's output schema: ` +
			`the value must be a string, not an object; if the tool has changed, record the calls again, otherwise ` +
			`correct the schema`: recorded,
	} {
		s := newShop(t)
		r, err := evaluateShop(t, s, policy)
		if err != nil || !strings.HasSuffix(r.Results[0].Err, want) || len(r.Results[0].Trajectory.Steps) != 2 {
			t.Errorf("got %v, %v, not %q", r, err, want)
		}
	}
}

// Recordings keep the samples of an example apart, and the examples of two sets with the same ID.
func TestRecordingsOfRuns(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	other := []evaluate.Example[Complaint, Settled]{{ID: "a", In: Complaint{"a1, again"}}}
	run := func(s *shop, examples []evaluate.Example[Complaint, Settled], samples int, policy tools.Policy) []string {
		r, err := evaluate.Evaluate(t.Context(), s.Agent, examples, evaluate.ExactMatch[Complaint, Settled](),
			&evaluate.Options{Workers: 4, Samples: samples, Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range r.Results {
			got = append(got, string(one.Got)+one.Err)
		}
		return got
	}
	s, policy := newShop(t), evaluate.Chain(evaluate.Record(&file), evaluate.Act)
	samples, again := run(s, complaints, 3, policy), run(s, other, 1, policy)
	recorded, err := evaluate.Recorded(&file)
	if err != nil {
		t.Fatal(err)
	}
	if got := run(newShop(t), complaints, 3, recorded); !slices.Equal(got, samples) {
		t.Errorf("got %q, not %q", got, samples)
	}
	if got := run(newShop(t), complaints, 4, recorded); got[3] != samples[0] {
		t.Errorf("a fourth sample: got %q, not %q", got, samples)
	}
	if got := run(newShop(t), other, 1, recorded); !slices.Equal(got, again) {
		t.Errorf("got %q, not %q", got, again)
	}
}

func TestNilPolicy(t *testing.T) {
	t.Parallel()
	r, err := evaluate.Evaluate(t.Context(), newShop(t), complaints, evaluate.Contains[Complaint, Settled](),
		&evaluate.Options{MaxErrors: -1, Policy: evaluate.Chain(evaluate.Act, nil)})
	if err != nil || r.Errors != 2 || !strings.HasSuffix(r.Results[0].Err, "evaluate: policy 2 of Chain is nil") {
		t.Errorf("got %v, %v", r, err)
	}
	var none context.Context
	_, err = evaluate.WithPolicy(none, newShop(t), evaluate.Act)
	contains(t, err, "evaluate: the context is nil")
}

// What was recorded while acting answers a later evaluation, which does not act.
func TestRecorded(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	recorded, err := evaluateShop(t, newShop(t), evaluate.Chain(evaluate.Record(&file), evaluate.Act))
	if err != nil {
		t.Fatal(err)
	}
	policy, err := evaluate.Recorded(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	s := newShop(t)
	r, err := evaluateShop(t, s, policy)
	if err != nil || s.lookups.Load() != 0 || s.grants.Load() != 0 {
		t.Fatalf("got %v, %d lookups, %d refunds", err, s.lookups.Load(), s.grants.Load())
	}
	for i := range r.Results {
		if got, want := string(r.Results[i].Got), string(recorded.Results[i].Got); got != want {
			t.Errorf("got %s, not %s", got, want)
		}
	}
	some, err := evaluate.Recorded(strings.NewReader(strings.SplitAfter(file.String(), "\n")[0]))
	if err != nil {
		t.Fatal(err)
	}
	r, err = evaluateShop(t, newShop(t), some)
	missing := `there is no recording of refund({"order":"a1"})`
	if err != nil || r.Errors != 2 || !strings.Contains(r.Results[0].Err, missing) {
		t.Errorf("got %v, %v", r, err)
	}
}

func TestRecordedMistakes(t *testing.T) {
	t.Parallel()
	_, err := evaluate.Recorded(strings.NewReader("{\"tool\": \"a\", \"args\": {}}\nno\n"))
	contains(t, err, "recordings: line 2: invalid character")
	_, err = evaluate.Recorded(strings.NewReader("{}\n"))
	contains(t, err, "line 1 is not a recorded call")
	_, err = evaluate.Recorded(nil)
	contains(t, err, "recordings: the reader is nil")
}

func FuzzRecorded(f *testing.F) {
	f.Add(`{"inputs": "a", "sample": 1, "tool": "lookup", "args": {"order": "a1"}, "result": "x"}` + "\n")
	f.Add(`{"tool": "lookup", "args": {}, "error": {"tool": "lookup", "kind": "failed", "message": "no"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		policy, err := evaluate.Recorded(strings.NewReader(text))
		if (err == nil) != (policy != nil) {
			t.Fatalf("got a policy and %v", err)
		}
		if err != nil {
			return
		}
		set, err := tools.NewSet(t.Context(), tools.Func("lookup", "", func(context.Context, Complaint) (string, error) {
			return "", errors.New("the tool was called")
		}, nil))
		if err != nil {
			t.Fatal(err)
		}
		call := dispatch.New(set.With(policy), nil).Issue(tools.Call{Args: json.RawMessage(`{"order": "a1"}`)}, 0)
		if result, err := call.Perform(t.Context()); err == nil && result != nil && !json.Valid(result) ||
			err != nil && strings.Contains(err.Error(), "the tool was called") {
			t.Fatalf("got %s, %v", result, err)
		}
	})
}

// TestClaimsPermitNothing refuses tools that only their names or their servers call harmless.
func TestClaimsPermitNothing(t *testing.T) {
	t.Parallel()
	called := 0
	tool := tools.Func("get_and_delete", "Deletes.", func(context.Context, struct{}) (int, error) {
		called++
		return called, nil
	}, nil)
	tool.Claimed = tools.Read
	set, err := tools.NewSet(t.Context(), tool)
	if err != nil {
		t.Fatal(err)
	}
	agent := module.NewReAct(settling, clerk(), set, nil)
	if _, err := evaluate.WithPolicy(t.Context(), agent, nil); err == nil || !strings.Contains(err.Error(), tool.Name) {
		t.Errorf("without a policy: %v", err)
	}
	for name, policy := range map[string]tools.Policy{"Refuse": evaluate.Refuse(), "Fakes": evaluate.Fakes(nil)} {
		ctx, err := evaluate.WithPolicy(t.Context(), agent, policy)
		if err != nil {
			t.Fatal(err)
		}
		issued := dispatch.New(set, nil).Issue(tools.Call{Args: json.RawMessage("{}")}, 0)
		if _, err := issued.Perform(ctx); err == nil || called > 0 {
			t.Errorf("%s: the tool was called %d times (%v)", name, called, err)
		}
	}
}

// TestActIsForOneCall does not let the call of one tool permit another one within it.
func TestActIsForOneCall(t *testing.T) {
	t.Parallel()
	called := 0
	effect := func(name string) *tools.Set {
		set, err := tools.NewSet(t.Context(), tools.Func(name, "Has an effect.",
			func(context.Context, struct{}) (int, error) { called++; return called, nil }, nil))
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	outer, inner := effect("outer"), effect("inner")
	nested := func(tools.Caller) tools.Caller { // between Act and the guard
		return tools.CallerFunc(func(ctx context.Context, _ tools.Call) (json.RawMessage, error) {
			return dispatch.New(inner, nil).Issue(tools.Call{Args: json.RawMessage("{}")}, 0).Perform(ctx)
		})
	}
	onlyOuter := func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			if c.Tool.Path() == "outer" {
				return evaluate.Act(nested(next)).Call(ctx, c)
			}
			return next.Call(ctx, c)
		})
	}
	ctx, err := evaluate.WithPolicy(t.Context(), struct{}{}, onlyOuter)
	if err != nil {
		t.Fatal(err)
	}
	issued := dispatch.New(outer, nil).Issue(tools.Call{Args: json.RawMessage("{}")}, 0)
	if _, err := issued.Perform(ctx); err == nil || called > 0 {
		t.Errorf("a tool that nothing permits was called %d times (%v)", called, err)
	}
}
