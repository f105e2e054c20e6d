package optimize

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/tools"
)

// neverActs returns a policy under which no tool with effects is called, even if the given policy permits the call. If
// the given policy is nil, neverActs returns nil, and package evaluate refuses a module that has tools with effects.
func neverActs(policy tools.Policy) tools.Policy {
	if policy == nil {
		return nil
	}
	return evaluate.Chain(policy, withoutEffects)
}

// withoutEffects is a policy that ends a run if a call would reach a tool with effects.
func withoutEffects(next tools.Caller) tools.Caller {
	return tools.CallerFunc(func(ctx context.Context, call tools.Call) (json.RawMessage, error) {
		if call.Tool.Hints.Class != tools.Read {
			return nil, tools.Fatal(fmt.Errorf("optimize: %s was not called, since Run and Compile never call tools "+
				"with effects; set Policy in the options to evaluate.Fakes or evaluate.Recorded, with a fake or a "+
				"recording of this tool", call.Tool.Path()))
		}
		return next.Call(ctx, call)
	})
}
