package policy

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/writ-go/writ/tools"
)

// When puts policies around the calls that m matches, the first one outermost,
// and leaves the others alone.
func If(m Match, policies ...tools.Policy) tools.Policy {
	guards := func(b *tools.Binding) bool {
		return m.of(b) == yes && slices.ContainsFunc(policies, func(p tools.Policy) bool { return p.Guards(b) })
	}
	warns := func(all []*tools.Binding) []string {
		warnings := m.misspelt(all)
		for _, p := range policies {
			warnings = append(warnings, p.Warnings(all)...)
		}
		return warnings
	}
	return caller{guards: guards, warns: warns, do: func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
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

// Allow refuses the calls that m does not match. The model reads the message,
// which should say what to do instead; if it is empty, it reads what is allowed.
func Allow(m Match, message string) tools.Policy {
	return Deny(Not(m), cmp.Or(message, "not allowed; only these are: "+m.String()))
}

// Deny refuses the calls that m matches. The model reads the message, which
// should say what to do instead; if it is empty, it reads what is not allowed.
func Deny(m Match, message string) tools.Policy {
	message = cmp.Or(message, "not allowed: "+m.String())
	return If(m, guard(all, func(context.Context, tools.Call, tools.Caller) (json.RawMessage, error) {
		return nil, refusal("%s", message)
	}))
}

func all(*tools.Binding) bool { return true }

// AllowDestructive is a [tools.Policy] that does nothing. It says that nobody
// needs to be asked before destructive tools are called, which
// [tools.Set.Warnings] otherwise warns of; put it in When to say so of some.
func AllowDestructive(next tools.Caller) tools.Caller {
	pass := func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		return next.Call(ctx, c)
	}
	return guard(all, pass)(next)
}
