package evaluate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/tools"
)

// counting returns a module that calls a counter twice, or once if it fails. It answers with the results.
func counting(t *testing.T, tool string, calls *atomic.Int32, fails *bool) concealed[Question, Answer] {
	t.Helper()
	set, err := tools.NewSet(t.Context(), tools.Func(tool, "Counts.", func(context.Context, struct{}) (int, error) {
		return int(calls.Add(1)), nil
	}, nil))
	if err != nil {
		t.Fatal(err)
	}
	return concealed[Question, Answer]{func(ctx context.Context, _ Question) (*module.Prediction[Answer], error) {
		var results [2]string
		for i := range results {
			result, err := dispatch.New(set, nil).Issue(tools.Call{Args: json.RawMessage("{}")}, 0).Perform(ctx)
			if err == nil && *fails {
				err = errors.New("the model is down")
			}
			if err != nil {
				return nil, err
			}
			results[i] = string(result)
		}
		return &module.Prediction[Answer]{Output: Answer{strings.Join(results[:], ", ")}}, nil
	}}
}

// If a file has several runs with the same inputs, the last one is replayed, and none is mixed with another.
func TestRecordingsOfRepeatedRuns(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	var file bytes.Buffer
	fails := true
	m := counting(t, "count", &calls, &fails)
	run := func(policy tools.Policy) string {
		r, err := evaluate.Evaluate(t.Context(), m, []evaluate.Example[Question, Answer]{{}},
			evaluate.ExactMatch[Question, Answer](), &evaluate.Options{Policy: policy, MaxErrors: -1})
		if err != nil {
			t.Fatal(err)
		}
		return string(r.Results[0].Got) + r.Results[0].Err
	}
	record := evaluate.Chain(evaluate.Record(&file), evaluate.Act)
	for _, want := range []string{"the model is down", `{"capital":"2, 3"}`, `{"capital":"4, 5"}`} {
		if got := run(record); got != want {
			t.Errorf("got %s, not %s", got, want)
		}
		fails = false
	}
	recorded, err := evaluate.Recorded(&file)
	if err != nil {
		t.Fatal(err)
	}
	if got := run(recorded); got != `{"capital":"4, 5"}` || calls.Load() != 5 {
		t.Errorf("got %s, %d calls", got, calls.Load())
	}
}

// A tool with effects may be called llm, as the function of programs that is not recorded.
func TestRecordingsOfLLM(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	var file bytes.Buffer
	m := counting(t, "llm", &calls, new(bool))
	for _, policy := range []tools.Policy{evaluate.Chain(evaluate.Record(&file), evaluate.Act), nil} {
		if policy == nil {
			policy, _ = evaluate.Recorded(&file)
		}
		r, err := evaluate.Evaluate(t.Context(), m, []evaluate.Example[Question, Answer]{{}},
			evaluate.ExactMatch[Question, Answer](), &evaluate.Options{Policy: policy})
		if err != nil || string(r.Results[0].Got) != `{"capital":"1, 2"}` || calls.Load() != 2 {
			t.Errorf("got %v, %v, %d calls", r, err, calls.Load())
		}
	}
}
