package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/internal/state"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// WithPolicy returns a context in which the tools of m are subject to the policy, and in which runs do not add to their
// LearnedTypes. [Evaluate] calls it; call it yourself if you run modules without Evaluate.
//
// WithPolicy returns an error if the answers of m depend on the order of its runs (see [module.Predictor.Shared]), or
// if m has tools with effects and the policy is nil.
//
// A call that reaches a tool with effects without passing [Act] ends the run with an error, and the tool is not called.
// That includes tools that [module.Tools] does not list, such as those of a module of your own.
func WithPolicy(ctx context.Context, m any, policy tools.Policy) (context.Context, error) {
	if ctx == nil {
		return nil, errors.New("evaluate: the context is nil")
	}
	for path, p := range module.Predictors(m) {
		if shared := p.Shared(); shared != "" {
			return nil, fmt.Errorf("evaluate: the answers would depend on the order of the examples: the runs of %s share a "+
				"%s; use a CodeAct with a *sandbox.Sandbox", path, shared)
		}
	}
	ctx = state.Freeze(ctx)
	if policy != nil {
		return tools.WithPolicies(ctx, policy, guard), nil
	}
	var found []string
	for path, b := range module.Tools(m) {
		if !acts(b) {
			continue
		}
		name := b.Path()
		if path != "Predictor" { // which is the module's own
			name += " of " + path
		}
		found = append(found, name)
	}
	if len(found) > 0 {
		return nil, fmt.Errorf("evaluate: the module has tools with effects: %s; set Options.Policy to Fakes, Recorded "+
			"or Refuse to evaluate it without acting, or to Act if it should act; unclassified tools count as well, so set "+
			"Hints.Class to tools.Read if a tool only reads", strings.Join(found, ", "))
	}
	return tools.WithPolicies(ctx, guard), nil
}

// acts reports whether a call of the tool may have an effect. Only the class that the host set counts, not the claims
// of a server or a name.
func acts(b *tools.Binding) bool { return b.Hints.Class != tools.Read }

// actKey is the key of the tool whose call has passed [Act]. Calls of other tools within it must pass Act themselves.
type actKey struct{}

// guard is the innermost policy. It ends a run that calls a tool with effects, unless the call has passed Act.
func guard(next tools.Caller) tools.Caller {
	return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
		if allowed, _ := ctx.Value(actKey{}).(*tools.Binding); acts(c.Tool) && allowed != c.Tool {
			return nil, tools.Fatal(fmt.Errorf("evaluate: %s was not called, since it has effects and Options.Policy "+
				"neither replaces nor refuses it; fakes and recordings know a tool by this name", c.Tool.Path()))
		}
		return next.Call(ctx, c)
	})
}

// Act is the policy that lets an evaluation act: it permits calls of tools with effects.
func Act(next tools.Caller) tools.Caller {
	return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
		return next.Call(context.WithValue(ctx, actKey{}, c.Tool), c)
	})
}

// Refuse returns a policy that refuses calls of tools of the classes, according to [tools.Hints]. Without classes, it
// refuses all tools except those of the class Read. The model is told, and can answer without the call.
func Refuse(classes ...tools.Class) tools.Policy {
	return func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			if class := c.Tool.Hints.Class; slices.Contains(classes, class) || len(classes) == 0 && class != tools.Read {
				return nil, &tools.ToolError{Kind: tools.KindDenied, Message: "this tool cannot be called now; answer without it"}
			}
			return next.Call(ctx, c)
		})
	}
}

// Fakes returns a policy that calls functions instead of tools. Their names are the paths of the tools, such as refund
// or mail.send, as [tools.Binding.Path] returns them. The handler of a [tools.Func] is such a function. Tools without a
// fake are called if they have no effects. A fake whose result does not fit the tool's output schema ends the run with
// an error.
func Fakes(fakes map[string]tools.Handler) tools.Policy {
	return func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			fake, ok := fakes[c.Tool.Path()]
			switch {
			case !ok:
				result, err := next.Call(ctx, c)
				if tools.IsFatal(err) {
					err = fmt.Errorf("%w (there are fakes of %q)", err, slices.Sorted(maps.Keys(fakes)))
				}
				return result, err
			case fake == nil:
				return nil, tools.Fatal(fmt.Errorf("evaluate: the fake of %s is nil", c.Tool.Path()))
			}
			result, err := fake(ctx, c.Args)
			if findings := c.Tool.CheckResult(result); err == nil && len(findings) > 0 {
				return nil, tools.Fatal(fmt.Errorf("evaluate: the fake of %s returned %s, but %s",
					c.Tool.Path(), clip(result), schema.Summary(findings)))
			}
			return result, err
		})
	}
}

// Chain returns a policy that applies several policies, the first of them outermost:
//
//	Chain(Record(file), Act)   // acts, and records what the tools return
//	Chain(Fakes(fakes), Act)   // acts, except with the tools that have a fake
//
// A nil policy ends each run that reaches it with an error.
func Chain(policies ...tools.Policy) tools.Policy {
	return func(next tools.Caller) tools.Caller {
		for i, policy := range slices.Backward(policies) {
			if policy == nil {
				policy = missing(i + 1)
			}
			next = policy(next)
		}
		return next
	}
}

// missing is the policy in the place of one that is nil.
func missing(number int) tools.Policy {
	return func(tools.Caller) tools.Caller {
		return tools.CallerFunc(func(context.Context, tools.Call) (json.RawMessage, error) {
			return nil, tools.Fatal(fmt.Errorf("evaluate: policy %d of Chain is nil", number))
		})
	}
}
