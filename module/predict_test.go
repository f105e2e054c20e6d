package module_test

import (
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
)

// If a text in the reply ends within a character, the model is asked again.
func TestPredictIncompleteReply(t *testing.T) {
	t.Parallel()
	mail := signature.Must(signature.New[orders, struct {
		Body string `json:"body"`
	}]("Write a mail."))
	model := llmtest.New(`{"body": "well done \ud83d"}`, `{"body": "well done \ud83d\ude00"}`)
	pred, err := module.NewPredict(mail, model, nil).Run(t.Context(), anything)
	if err != nil || pred.Output.Body != "well done \U0001f600" {
		t.Errorf("got %+v, %v", pred, err)
	}
	if n := len(model.Requests()); n != 2 {
		t.Errorf("there were %d model calls", n)
	}
}
