package module_test

import (
	"errors"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/signature"
)

// Invalid fields are reported before a model is called.
func TestPredictorFieldErrors(t *testing.T) {
	t.Parallel()
	model := llmtest.New(`{"total": 1}`)
	optioned := module.NewPredict(adding, model, nil)
	optioned.Predictor.CallOptions = []llms.CallOption{llms.WithMaxTokens(9), nil}
	type coins struct {
		Crypto string `json:"crypto"`
	}
	shadowing := module.NewCodeAct(signature.Must(signature.New[coins, sum]("")), model, inProcess(t), nil, nil)
	votes := answers(sum{Total: 1})
	for want, err := range map[string]error{
		"module: the Predictor's CallOptions contain a nil option; remove it": second(optioned.Run(t.Context(),
			anything)),
		`module: the input "crypto" has the name of a global that programs use; rename the input`: second(
			shadowing.Run(t.Context(), coins{})),
		"module: answer 1 cannot be counted: the key panicked: no": second(module.Majority(votes,
			func(sum) any { panic("no") })),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if err := second(module.Majority(votes, func(sum) any { panic("no") })); !errors.As(err, new(*models.PanicError)) {
		t.Errorf("got %v", err)
	}
	var unmade *llmtest.Model
	const nilModel = "module: no answer: the model: the model is a nil *llmtest.Model; check the error of the " +
		"function that returned it"
	if err := second(
		module.NewPredict(adding, unmade, nil).Run(t.Context(), anything),
	); err == nil ||
		err.Error() != nilModel {
		t.Errorf("got %v", err)
	}
	if n := len(model.Requests()); n != 0 {
		t.Errorf("the model was called %d times", n)
	}
}
