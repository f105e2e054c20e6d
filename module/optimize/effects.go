package optimize

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/writ-go/writ/internal/similar"
	"github.com/writ-go/writ/module"
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

// checkFakes returns an error if a policy has a fake whose name is almost that of a tool of the module. A fake with a
// completely different name may be for a tool that [module.Tools] does not list.
func checkFakes(policy tools.Policy, m any) error {
	var fakes fakeNames
	if policy != nil {
		policy(&fakes)
	}
	var names []string
	for _, b := range module.Tools(m) {
		names = append(names, b.Path())
	}
	for _, name := range fakes.list {
		if near := similar.Nearest(name, names); near != "" && !slices.Contains(names, name) {
			return fmt.Errorf("CompileOptions.Policy fakes %q, which is not a tool; did you mean %q?", name, near)
		}
	}
	return nil
}

// fakeNames collects the names of the fakes in a policy that is applied to it. See [evaluate.Fakes].
type fakeNames struct {
	tools.Caller // nil, since it is not called
	list         []string
}

// AddFakes adds the names of fakes.
func (f *fakeNames) AddFakes(names ...string) { f.list = append(f.list, names...) }
