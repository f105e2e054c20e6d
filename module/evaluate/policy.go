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

// WithPolicy returns a context in which the policy applies to all calls of tools, and in which runs do not add to the
// LearnedTypes of their predictors. [Evaluate] calls WithPolicy; call it yourself to run a module without Evaluate.
//
// WithPolicy returns an error if the answers of m depend on the order of its runs (see [module.Predictor.Shared]), or
// if m has tools with effects and the policy is nil.
//
// If a call would reach a tool with effects without passing through [Act], the tool is not called, and the run ends
// with an error. This includes tools that [module.Tools] does not list, such as those of a module of your own.
func WithPolicy(ctx context.Context, m any, policy tools.Policy) (context.Context, error) {
	if ctx == nil {
		return nil, errors.New("evaluate: the context is nil")
	}
	for path, p := range module.Predictors(m) {
		if shared := p.Shared(); shared != "" {
			return nil, fmt.Errorf("evaluate: the answers would depend on the order of the examples: the runs of %s "+
				"share a %s; use a CodeAct with a *sandbox.Sandbox", path, shared)
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
		if path != "Predictor" { // a predictor of a module within m
			name += " of " + path
		}
		found = append(found, name)
	}
	if len(found) > 0 {
		return nil, fmt.Errorf("evaluate: the module has tools with effects: %s; set Options.Policy to Fakes, "+
			"Recorded or Refuse to run it without effects, or, if you evaluate it, to Act to permit them; "+
			"unclassified tools count as tools with effects, so set Hints.Class to tools.Read if a tool only reads",
			strings.Join(found, ", "))
	}
	return tools.WithPolicies(ctx, guard), nil
}

// acts reports whether a call of the tool may have an effect. This depends only on the class that the host set, not on
// hints from a server or on the name of the tool.
func acts(b *tools.Binding) bool { return b.Hints.Class != tools.Read }

// actKey is the context key of the tool whose call has passed through [Act]. If that tool calls other tools, these
// calls must pass through Act themselves.
type actKey struct{}

// guard is the innermost policy. If a tool with effects would be called and the call has not passed through Act, guard
// ends the run with an error.
func guard(next tools.Caller) tools.Caller {
	return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
		if allowed, _ := ctx.Value(actKey{}).(*tools.Binding); acts(c.Tool) && allowed != c.Tool {
			return nil, tools.Fatal(fmt.Errorf("evaluate: %s was not called, since it has effects and Options.Policy "+
				"neither replaces nor refuses the call; fakes and recordings must use exactly this name",
				c.Tool.Path()))
		}
		return next.Call(ctx, c)
	})
}

// Act is the policy that permits calls of tools with effects.
func Act(next tools.Caller) tools.Caller {
	return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
		return next.Call(context.WithValue(ctx, actKey{}, c.Tool), c)
	})
}

// Refuse returns a policy that refuses calls of tools of the given classes (see [tools.Hints]). Without arguments, it
// refuses calls of all tools except those of the class Read. The model sees the refusal and can answer without the
// call.
func Refuse(classes ...tools.Class) tools.Policy {
	return func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			class := c.Tool.Hints.Class
			if !slices.Contains(classes, class) && (len(classes) > 0 || class == tools.Read) {
				return next.Call(ctx, c)
			}
			return nil, &tools.ToolError{
				Kind: tools.KindDenied, Message: "this tool cannot be called now; answer without it",
			}
		})
	}
}

// Fakes returns a policy that calls functions instead of tools. The keys of the map are the paths of the tools, such as
// refund or mail.send, as [tools.Binding.Path] returns them. The handler of a [tools.Func] can be used as a fake. A
// tool without a fake is called if it has no effects. If the result of a fake does not match the tool's output schema,
// the run ends with an error.
func Fakes(fakes map[string]tools.Handler) tools.Policy {
	names := slices.Sorted(maps.Keys(fakes))
	return func(next tools.Caller) tools.Caller {
		if r, reads := next.(fakesReader); reads {
			r.AddFakes(names...)
		}
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			fake, ok := fakes[c.Tool.Path()]
			switch {
			case !ok:
				result, err := next.Call(ctx, c)
				if tools.IsFatal(err) {
					err = fmt.Errorf("%w (the fakes are %q)", err, names)
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

// fakesReader is what package optimize applies a policy to in order to check the names of the fakes.
type fakesReader interface{ AddFakes(names ...string) }

// Chain returns a policy that applies several policies, the first of them outermost:
//
//	Chain(Record(file), Act)   // calls the tools, and records what they return
//	Chain(Fakes(fakes), Act)   // calls the tools, except those that have a fake
//
// If one of the policies is nil, each run with a call that reaches it ends with an error.
func Chain(policies ...tools.Policy) tools.Policy {
	return func(next tools.Caller) tools.Caller {
		_, isReader := next.(fakesReader) // it must reach all policies
		for i, policy := range slices.Backward(policies) {
			if policy != nil {
				if applied := policy(next); !isReader {
					next = applied
				}
				continue
			}
			next = tools.CallerFunc(func(context.Context, tools.Call) (json.RawMessage, error) {
				return nil, tools.Fatal(fmt.Errorf("evaluate: policy %d of Chain is nil", i+1))
			})
		}
		return next
	}
}
