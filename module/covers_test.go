package module_test

import (
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
)

// A question that was edited so that it cannot be answered is not asked.
func TestEditedSpec(t *testing.T) {
	t.Parallel()
	field, err := signature.ParseField("extra: str")
	if err != nil {
		t.Fatal(err)
	}
	without, err := grading.Spec().Delete("score")
	if err != nil {
		t.Fatal(err)
	}
	more, err := grading.Spec().AppendInputs(field)
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.New()
	for _, test := range []struct {
		spec *signature.Spec
		want string
	}{
		{more, `module: the Predictor's Spec has the input "extra", which the signature does not; make a signature that has it`},
		{without, `module: the Predictor's Spec lacks the output "score" of the signature`},
	} {
		p := module.NewPredict(grading, model, nil)
		p.Predictor.Spec = test.spec
		if pred, err := p.Run(t.Context(), inContext{"a", "b"}); pred != nil || err == nil || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
	if n := len(model.Requests()); n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
}
