package optimize

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
)

// A search says why it ended.
func TestGEPAEnd(t *testing.T) {
	t.Parallel()
	const enough = "Draft a text that has so many words in so many lines that it needs no more."
	for name, test := range map[string]struct {
		by      GEPA
		budget  int
		replies []string
		want    string
	}{
		"iterations": {
			GEPA{Iterations: 2}, 0, []string{"Draft more.", "Polish more."},
			"warning: GEPA: all 2 iterations were used; raise GEPA.Iterations to continue the search\n",
		},
		"perfect": {
			GEPA{}, 0, []string{enough, enough},
			"GEPA: the best candidate has the score 1 on all of Val, so the search ended\n",
		},
		"budget": {
			GEPA{}, 60, []string{"More.", "Even more."},
			"warning: the budget was spent before the search was over",
		},
		"useless": {
			GEPA{}, 0, []string{"Draft."},
			"warning: GEPA: the reflection model returned nothing new 10 times in a row, so the search ended",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var progress strings.Builder
			o := Options{Budget: Budget{StudentCalls: test.budget}, Progress: &progress}
			r, err := optimizeTwoSteps(t, test.by, o, test.replies...)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(progress.String(), "optimize: "+test.want) {
				t.Errorf("got\n%s\nwant %s", progress.String(), test.want)
			}
			text, isWarning := strings.CutPrefix(test.want, "warning: ")
			has := slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.HasPrefix(w+"\n", text) })
			if has != isWarning {
				t.Errorf("warnings: %q", r.Warnings)
			}
		})
	}
}

// Without mistakes on Train, there is nothing to learn, however many there are on Val.
func TestGEPAWithoutMistakes(t *testing.T) {
	t.Parallel()
	metric := func(
		_ context.Context, e evaluate.Example[question, reply], _ *module.Prediction[reply],
	) (module.Score, error) {
		return module.Score{Value: float64(len(e.Want.Reply))}, nil
	}
	d := Data[question, reply]{Train: questions(8), Val: questions(30)[10:]}
	for i := range d.Train {
		d.Train[i].Want.Reply = "1"
	}
	r, err := Run(t.Context(), newTwoSteps(), GEPA{Iterations: 9}, d, metric, &Options{Reflection: llmtest.New()})
	if err != nil {
		t.Fatal(err)
	}
	want := "GEPA: in the last 9 of 9 iterations, no candidate made a mistake on Train, so there was nothing to learn; " +
		"use more examples, or more difficult ones"
	if !slices.Contains(r.Warnings, want) || r.Spent.StudentCalls != 2*28 {
		t.Errorf("spent %v, warnings: %q", r.Spent, r.Warnings)
	}
}

// An iteration looks for a mistake until it finds one, even if there is only one in Train.
func TestGEPAFindsTheMistake(t *testing.T) {
	t.Parallel()
	metric := func(
		ctx context.Context, e evaluate.Example[question, reply], p *module.Prediction[reply],
	) (module.Score, error) {
		if e.Want.Reply != "" {
			return module.Score{Value: 1}, nil
		}
		return longer(ctx, e, p)
	}
	d := Data[question, reply]{Train: questions(40), Val: questions(60)[40:]}
	for i := range d.Train[:39] {
		d.Train[i].Want.Reply = "anything"
	}
	r, err := Run(t.Context(), newTwoSteps(), GEPA{Iterations: 1}, d, metric,
		&Options{Reflection: replying("Write more and more.")})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Candidates) != 2 {
		t.Errorf("got %d candidates, spent %v", len(r.Candidates), r.Spent)
	}
}
