package optimize

import (
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// Only a name that is similar to that of a tool, and is no tool itself, is an error.
func TestCheckFakes(t *testing.T) {
	t.Parallel()
	set, err := tools.NewSet(t.Context(), tools.Func("Send", "", rateOf, nil), tools.Func("send", "", rateOf, nil))
	if err != nil {
		t.Fatal(err)
	}
	m := module.NewReAct(signature.Must(signature.New[question, reply]("Answer.")), caller(), set, nil)
	for name, want := range map[string]string{
		"Send": "", "send": "", "refund": "",
		"sned": `CompileOptions.Policy fakes "sned", which is not a tool; did you mean "Send"?`,
	} {
		got := ""
		if err := checkFakes(evaluate.Fakes(map[string]tools.Handler{name: nil}), m); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
