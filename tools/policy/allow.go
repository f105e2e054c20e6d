package policy

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/writ-go/writ/tools"
)

// If applies policies to the calls that m matches. The first policy is the outermost.
func If(m Match, policies ...tools.Policy) tools.Policy {
	guards := func(b *tools.Binding) bool {
		return m.of(b) == yes && slices.ContainsFunc(policies, func(p tools.Policy) bool { return p.Guards(b) })
	}
	warns := func(all []*tools.Binding) []string {
		warnings := m.warnings(all)
		for _, p := range policies {
			warnings = append(warnings, p.Warnings(all)...)
		}
		return warnings
	}
	return caller{guards: guards, warns: warns,
		do: func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
			ok, err := m.matches(c)
			switch {
			case err != nil:
				return nil, refusal("%v", err)
			case !ok:
				return next.Call(ctx, c)
			}
			for _, p := range slices.Backward(policies) {
				next = p(next)
			}
			return next.Call(ctx, c)
		}}.policy()
}

// Allow refuses calls that m does not match. The model reads the message, which should say
// what to do instead. If the message is empty, Allow writes one that says what is allowed.
func Allow(m Match, message string) tools.Policy {
	return Deny(Not(m), cmp.Or(message, "not allowed; only these calls are allowed: "+m.String()))
}

// Deny refuses calls that m matches. The model reads the message, which should say what to
// do instead. If the message is empty, Deny writes one that says what is not allowed.
func Deny(m Match, message string) tools.Policy {
	message = cmp.Or(message, "not allowed: "+m.String())
	return If(m, guard(all, func(context.Context, tools.Call, tools.Caller) (json.RawMessage, error) {
		return nil, refusal("%s", message)
	}))
}

func all(*tools.Binding) bool { return true }

// AllowDestructive is a [tools.Policy] that declares that destructive tools may be called
// without approval. Otherwise, [tools.Set.Warnings] warns of them. Use [If] to declare it for
// some tools. It has no other effect.
func AllowDestructive(next tools.Caller) tools.Caller {
	pass := func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		return next.Call(ctx, c)
	}
	return guard(all, pass)(next)
}
