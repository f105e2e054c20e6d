package optimize

import (
	"context"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
)

// onePart scores the answer 1 if its instructions are about the kind of its example, which is heavy or light.
func onePart(
	_ context.Context, e evaluate.Example[question, reply], p *module.Prediction[reply],
) (module.Score, error) {
	isHeavy := strings.Contains(e.In.Question, "heavy")
	if strings.Contains(p.Output.Reply, "heavy") == isHeavy {
		return module.Score{Value: 1}, nil
	}
	return module.Score{Feedback: "Heavy examples matter."}, nil
}

// weighted returns one heavy example and two light ones for each n.
func weighted(n int) (set []evaluate.Example[question, reply]) {
	for i, e := range questions(3 * n) {
		if e.Weight = 1; i%3 == 0 {
			e.In.Question, e.Weight = e.In.Question+" heavy", 10
		}
		set = append(set, e)
	}
	return set
}

// An improvement on heavy examples outweighs a loss on more light ones, in minibatches and on parts of Val.
func TestWeightsDecide(t *testing.T) {
	t.Parallel()
	for _, by := range []Optimizer{
		GEPA{Minibatch: 6, Iterations: 4, Merges: -1}, MIPROv2{Instructions: 2, DemoSets: -1, Trials: 8},
	} {
		o := &Options{Reflection: replying("Polish the heavy.")}
		o.Frozen = []string{"Draft"}
		r, err := Run(t.Context(), newTwoSteps(), by, Data[question, reply]{weighted(2), weighted(20)}, onePart, o)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := r.Best.Score, 10.0/12; got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%T: got the score %v, want %v", by, got, want)
		}
	}
}
