package optimize

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/tools"
)

// neverActs returns a policy under which no tool with effects is called, whatever the given policy permits. It is an
// error if the given policy is nil and m has such tools.
func neverActs(policy tools.Policy, m any) (tools.Policy, error) {
	if policy != nil {
		return evaluate.Chain(policy, withoutEffects), nil
	}
	var found []string
	for _, b := range module.Tools(m) {
		if acts(b) {
			found = append(found, b.Path())
		}
	}
	if found != nil {
		return nil, fmt.Errorf("the module has tools with effects: %s; Run and Compile never call them, so set Policy in "+
			"the options to evaluate.Fakes, evaluate.Recorded or evaluate.Refuse", strings.Join(found, ", "))
	}
	return withoutEffects, nil
}

// acts reports whether a call of the tool may have an effect.
func acts(b *tools.Binding) bool { return b.Hints.Class != tools.Read }

// withoutEffects ends a run whose call would reach a tool with effects.
func withoutEffects(next tools.Caller) tools.Caller {
	return tools.CallerFunc(func(ctx context.Context, call tools.Call) (json.RawMessage, error) {
		if acts(call.Tool) {
			return nil, tools.Fatal(fmt.Errorf("optimize: %s was not called, since it has effects, and Run and Compile never "+
				"have any; set Policy in the options to evaluate.Fakes or evaluate.Recorded with this tool", call.Tool.Path()))
		}
		return next.Call(ctx, call)
	})
}
