package optimize_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/optimize"
	"github.com/writ-go/writ/signature"
)

type question struct {
	Number int `json:"number"`
}

type answer struct {
	Text string `json:"text"`
}

var spelled = signature.Must(signature.New[question, answer]("Name the number."))

type (
	examples = []evaluate.Example[question, answer]
	data     = optimize.Data[question, answer]
	predict  = *module.Predict[question, answer]
)

// nameOf is the answer that is wanted: a name in a secret language.
func nameOf(n int) string { return strings.Repeat("ba", n%7+1) }

func numbers(from, to int) (set examples) {
	for n := from; n < to; n++ {
		set = append(set, evaluate.Example[question, answer]{
			ID: fmt.Sprint("n", n), In: question{n}, Want: answer{nameOf(n)},
		})
	}
	return set
}

func numbersData() data { return data{Train: numbers(0, 14), Val: numbers(100, 120)} }

// learner is a student that knows the name of a number if a demo has another number with the same name, or if its
// instructions contain "sevenths".
func learner() *llmtest.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		var n int
		_, _ = fmt.Sscanf(inputOf(r.Last(), "number"), "%d", &n) // 0 without a number
		text := r.Text()
		for demo := range 200 {
			shown := strings.Contains(text, fmt.Sprintf("[[ ## number ## ]]\n%d\n", demo)) && demo != n
			if demo%7 == n%7 && shown || strings.Contains(text, "sevenths") {
				return reply("text", nameOf(n)), nil
			}
		}
		return reply("text", "unknown"), nil
	})
}

func inputOf(text, name string) string {
	_, after, _ := strings.Cut(text, "[[ ## "+name+" ## ]]\n")
	value, _, _ := strings.Cut(after, "\n")
	return value
}

func reply(pairs ...string) llmtest.Reply {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "[[ ## %s ## ]]\n%s\n\n", pairs[i], pairs[i+1])
	}
	b.WriteString("[[ ## completed ## ]]")
	return llmtest.Reply{Text: b.String()}
}

func right(
	_ context.Context, e evaluate.Example[question, answer], got *module.Prediction[answer],
) (module.Score, error) {
	if got.Output == e.Want {
		return module.Score{Value: 1}, nil
	}
	return module.Score{Feedback: "It is " + e.Want.Text}, nil
}

func newStudent() predict { return module.NewPredict(spelled, learner(), nil) }

func run(t *testing.T, by optimize.Optimizer, o *optimize.Options) *optimize.Result[predict] {
	t.Helper()
	r, err := optimize.Run(t.Context(), newStudent(), by, numbersData(), right, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
