package evaluate_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
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

// Nothing that a model wrote, or that is in the examples, controls the terminal.
func TestReportIsDisplayable(t *testing.T) {
	t.Parallel()
	a, b := reportOn(t, 2, all), reportOn(t, 2, all)
	for _, r := range []*evaluate.Report{a, b} {
		r.Results[0].ID, r.Results[0].Score.Value = "\x1b[2J", 0
		r.Results[0].Got, r.Results[0].Score.Feedback = json.RawMessage("\"\u202e\""), "\u009b"
	}
	b.Results[0].Score.Value = 1
	b.Results[1].Err, b.Errors = "\x1b]0;\a", 1
	c, err := evaluate.Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{a.String(), b.String(), c.String()} {
		if strings.ContainsAny(text, "\x1b\u202e\u009b\a") {
			t.Errorf("%q", text)
		}
	}
	if text := c.String(); !strings.Contains(text, `\u001b[2J  0.000  1.000`) || !strings.Contains(text, `"\u202e"`) {
		t.Errorf("%s", text)
	}
}

func TestNilReport(t *testing.T) {
	t.Parallel()
	if got := (*evaluate.Report)(nil).String(); got != "<nil>" {
		t.Errorf("got %q", got)
	}
}
