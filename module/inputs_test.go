package module_test

import (
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
)

// Programs have every input that the prompt names, also one that was not given.
func TestInputsThatAreNotGiven(t *testing.T) {
	t.Parallel()
	type in struct {
		Limit  *int              `json:"limit,omitempty"`
		Before signature.History `json:"before,omitempty"`
		Photo  *signature.Image  `json:"photo,omitempty"`
	}
	type out struct {
		Got string `json:"got"`
	}
	sig := signature.Must(signature.New[in, out](""))
	model := llmtest.New(fence("submit({got: JSON.stringify([limit, limit ?? 3, before, before.length, photo?.mimeType ?? 'none'])})"))
	pred, err := module.NewCodeAct(sig, model, inProcess(t), nil, nil).Run(t.Context(), in{})
	if err != nil || pred.Output.Got != `[null,3,[],0,"none"]` {
		t.Fatalf("got %v, %v", pred, err)
	}
}
