package module_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
)

// answers returns results, each of which took one call.
func answers[Out any](outputs ...Out) (list []module.Result[Out]) {
	for _, o := range outputs {
		step := module.Step{Usage: event.Usage{Calls: 1}}
		trajectory := module.Trajectory{Steps: []module.Step{step}}
		list = append(list, module.Result[Out]{Prediction: &module.Prediction[Out]{Output: o, Trajectory: trajectory}})
	}
	return list
}

func majority[Out any](t *testing.T, key func(Out) any, outputs ...Out) string {
	t.Helper()
	pred, err := module.Majority(answers(outputs...), key)
	if err != nil {
		t.Fatal(err)
	}
	if len(pred.Trajectory.Runs) != len(outputs) || pred.Trajectory.Usage().Calls != len(outputs) {
		t.Errorf("got %d attempts", len(pred.Trajectory.Runs))
	}
	return fmt.Sprint(pred.Output)
}

func TestMajority(t *testing.T) {
	t.Parallel()
	type text = string
	for i, test := range []struct{ got, want string }{
		{majority(t, nil, 1, 2, 2), "2"},
		{majority(t, nil, 2, 1), "2"},
		{majority(t, nil, 1, 2, 3, 3, 2), "2"},
		{majority(t, nil, "x"), "x"},
		{majority[text](t, nil, "Rome", "The Hague.", "the hague", "Rome?"), "Rome"},
		{majority[text](t, nil, "Rome", "The Hague.", " the  hague", "Hague"), "The Hague."},
		{majority[text](t, nil, "35", "3.5", "3.5."), "3.5"},
		{majority[text](t, nil, "5", "-5", "(-5)"), "-5"},
		{majority[text](t, nil, "C", "C++", "c++", "“C++”"), "C++"},
		{majority[text](t, nil, "B", "A", "a", "A."), "A"},
		{majority[text](t, nil, "?", "!", "!"), "!"},
		{majority[any](t, nil, map[string]any{"a": 2}, map[string]any{"a": 1, "b": []any{"X"}},
			map[string]any{"b": []any{"x"}, "a": 1.0}), "map[a:1 b:[X]]"},
		{majority(t, func(v verdict) any { return v.Mood }, verdict{Mood: "good", Score: 1},
			verdict{Mood: "bad", Score: .5}, verdict{Mood: "bad", Score: .6}), "{bad 0.5 false}"},
		{majority(t, nil, 9007199254740993, 9007199254740992, 9007199254740992), "9007199254740992"},
	} {
		if test.got != test.want {
			t.Errorf("%d: got %s, want %s", i, test.got, test.want)
		}
	}
}

func TestMajorityWithoutAnswers(t *testing.T) {
	t.Parallel()
	none := "module: no run has an answer, so there is no majority"
	for _, answers := range [][]module.Result[int]{nil, {{}}, {{Err: module.ErrNoAnswer}}} {
		if pred, err := module.Majority(answers, nil); pred != nil || err == nil || err.Error() != none {
			t.Errorf("got %v and %v", pred, err)
		}
	}
	uncountable := func(int) any { return make(chan int) }
	if pred, err := module.Majority(
		answers(1, 2),
		uncountable,
	); pred != nil || err == nil ||
		!strings.HasPrefix(err.Error(), "module: answer 1 cannot be counted: ") {
		t.Errorf("got %v and %v", pred, err)
	}
}

// The model is called five times, and the most frequent answer is returned. Failed samples are paid
// for as well.
func ExampleMajority() {
	replies := []string{"bad", "good", "Bad", "awful", "bad"}
	var n atomic.Int64
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		mood := replies[int(n.Add(1)-1)%len(replies)]
		return llmtest.Reply{Text: fmt.Sprintf(`{"mood": %q, "score": 0.5}`, mood)}, nil
	})
	samples, err := module.Samples(context.Background(), module.NewPredict(judge, model, nil), Review{"Broke twice."}, 5,
		&module.ParallelOptions{Workers: 1, Collect: true})
	if err != nil {
		log.Println(err)
	}
	pred, err := module.Majority(samples, func(v Verdict) any { return v.Mood })
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pred.Output.Mood, len(pred.Trajectory.Runs))
	// Output: bad 5
}
