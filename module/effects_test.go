package module_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/tools"
)

// A call that failed, and was then repeated successfully, is no longer listed as uncertain.
func TestFailureThatWasMadeAgain(t *testing.T) {
	t.Parallel()
	type payment struct {
		To string `json:"to"`
	}
	calls := 0
	pay := tools.Func("pay", "Pays.", func(context.Context, payment) (bool, error) {
		if calls++; calls == 1 {
			return false, errors.New("the bank is closed")
		}
		return true, nil
	}, &tools.Hints{Class: tools.Effect})
	model := llmtest.New(
		fence(`await pay({to: "Rat"})`),
		fence(`await pay({to: "Rat"}, {again: "E1"}); throw new Error("no")`),
		fence(`await pay({to: "Rat"}); submit({total: 1})`),
	)
	pred, err := module.NewCodeAct(adding, model, inProcess(t), toolSet(t, pay), nil).Run(t.Context(), anything)
	if err != nil || calls != 2 {
		t.Fatalf("%d calls, %v", calls, err)
	}
	const uncertain = "Reported an error, but may have taken effect."
	first, second := pred.Trajectory.Steps[0].Observation, pred.Trajectory.Steps[1].Observation
	if !strings.Contains(first, uncertain) || strings.Contains(second, uncertain) ||
		!strings.Contains(second, "\nDone so far:\n- E2 pay") {
		t.Errorf("after the failure:\n%s\nand after the call was repeated:\n%s", first, second)
	}
}
