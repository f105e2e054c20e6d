package evaluate_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
)

// broken is an answer that panics when it is read, or written.
type broken struct{ panics bool }

func (b broken) MarshalJSON() ([]byte, error) {
	if b.panics {
		panic("write")
	}
	return []byte("{}"), nil
}

func (*broken) UnmarshalJSON([]byte) error { panic("read") }

func TestReportOfBrokenAnswers(t *testing.T) {
	t.Parallel()
	o := &evaluate.Options{MaxErrors: -1, Results: filepath.Join(t.TempDir(), "results.jsonl")}
	metric := func(
		context.Context, evaluate.Example[Question, broken], *module.Prediction[broken],
	) (module.Score, error) {
		return module.Score{}, errors.New("no idea")
	}
	panics := true
	for _, want := range []string{
		"encoding evaluate_test.broken panicked: write",
		"the metric failed: no idea",
		"the metric failed: no idea", // the answer in the file cannot be read, so the module ran again
	} {
		m := concealed[Question, broken]{func(context.Context, Question) (*module.Prediction[broken], error) {
			return &module.Prediction[broken]{Output: broken{panics}}, nil
		}}
		r, err := evaluate.Evaluate(t.Context(), m, []evaluate.Example[Question, broken]{{}}, metric, o)
		if err != nil || r.Results[0].Err != want {
			t.Errorf("got %v, %v, not %s", r, err, want)
		}
		panics = false
	}
}

func TestNilReport(t *testing.T) {
	t.Parallel()
	if got := (*evaluate.Report)(nil).String(); got != "<nil>" {
		t.Errorf("got %q", got)
	}
}
