package policy_test

import (
	"strings"
	"testing"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

func TestAllowAndDeny(t *testing.T) {
	t.Parallel()
	set := newSet(t, tool("mail.send", tools.Hints{}, echo), tool("mail.list", tools.Hints{Class: tools.Read}, echo),
		tool("shell.run", tools.Hints{}, echo))
	tests := []struct {
		name     string
		policies []tools.Policy
		want     map[string]string
	}{
		{"allow", []tools.Policy{policy.Allow(policy.Tools("mail.*"), "")},
			map[string]string{"mail.send": `{}`, "shell.run": "denied: not allowed; only these calls are allowed: mail.*"}},
		{"allow with a message", []tools.Policy{policy.Allow(policy.Class(tools.Read), "look, but do not touch")},
			map[string]string{"mail.list": `{}`, "mail.send": "denied: look, but do not touch"}},
		{"deny", []tools.Policy{policy.Deny(policy.Tools("shell.*"), "")},
			map[string]string{"mail.send": `{}`, "shell.run": "denied: not allowed: shell.*"}},
		{"a message is not a format", []tools.Policy{policy.Deny(policy.Tools("shell.*"), "100% no")},
			map[string]string{"shell.run": "denied: 100% no"}},
		{"both", []tools.Policy{policy.Allow(policy.Tools("mail.*"), ""), policy.Deny(policy.Tools("mail.send"), "later")},
			map[string]string{"mail.list": `{}`, "mail.send": "denied: later",
				"shell.run": "denied: not allowed; only these calls are allowed: mail.*"}},
		{"an allowed call needs no approval",
			[]tools.Policy{policy.If(policy.Tools("shell.*"), policy.Deny(policy.Not(policy.Match{}), "a"),
				policy.Deny(policy.Not(policy.Match{}), "b"))},
			map[string]string{"mail.send": `{}`, "shell.run": "denied: a"}},
		{"nothing is allowed", []tools.Policy{policy.Allow(policy.Match{}, "")},
			map[string]string{"mail.list": "denied: not allowed; only these calls are allowed: none"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for path, want := range test.want {
				equal(t, path, told(call(t.Context(), set.With(test.policies...), path, `{}`)), want)
			}
		})
	}
}

// A set warns of destructive tools that no policy guards.
func TestDestructiveTools(t *testing.T) {
	t.Parallel()
	final := tools.Hints{Destructive: true}
	set := newSet(t, tool("fs.delete", final, echo), tool("fs.read", tools.Hints{Class: tools.Read}, echo),
		tool("refund", final, echo))
	const text = "destructive tools can be called without approval: "
	const advice = "; add policy.Approve to the set, or policy.AllowDestructive if that is intended"
	approve, anything := policy.Approve(ask), policy.Func(func(tools.Call) bool { return true })
	for _, test := range []struct {
		name     string
		policies []tools.Policy
		want     string
	}{
		{"none", nil, "fs.delete, refund"},
		{"others", []tools.Policy{policy.Retry(nil), policy.Audit(nil, nil), nil,
			func(tools.Caller) tools.Caller { panic("no") }}, "fs.delete, refund"},
		{"approval", []tools.Policy{approve}, ""},
		{"approval of destructive calls", []tools.Policy{policy.If(policy.Destructive(), approve)}, ""},
		{"approval of effects", []tools.Policy{policy.If(policy.Class(tools.Effect), policy.Retry(nil), approve)}, ""},
		{"approval of one", []tools.Policy{policy.If(policy.Tools("fs.*"), approve)}, "refund"},
		{"approval of each", []tools.Policy{policy.If(policy.Tools("fs.*"), approve),
			policy.If(policy.Tools("refund"), approve)}, ""},
		{"approval of some calls", []tools.Policy{policy.If(anything, approve)}, "fs.delete, refund"},
		{"approval of some calls of all", []tools.Policy{policy.If(policy.And(policy.Destructive(), anything), approve)},
			"fs.delete, refund"},
		{"approval of all but some", []tools.Policy{policy.If(policy.Not(policy.Tools("refund")), approve)}, "refund"},
		{"approval later", []tools.Policy{policy.If(policy.Tools("fs.*"), policy.Approve(nil))}, "refund"},
		{"denied", []tools.Policy{policy.Deny(policy.Tools("refund"), "")}, "fs.delete"},
		{"not among the allowed", []tools.Policy{policy.Allow(policy.Tools("fs.*"), "")}, "fs.delete"},
		{"meant", []tools.Policy{policy.AllowDestructive}, ""},
		{"meant for one", []tools.Policy{policy.If(policy.Tools("refund"), policy.AllowDestructive)}, "fs.delete"},
		{"nil inside", []tools.Policy{policy.If(policy.Tools("refund"), nil)}, "fs.delete, refund"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			for _, w := range set.With(test.policies...).Warnings() {
				if !strings.HasPrefix(w, "policy: ") { // warnings about policies with mistakes
					got += w
				}
			}
			want := ""
			if test.want != "" {
				want = text + test.want + advice
			}
			equal(t, "warnings", got, want)
		})
	}
	equal(t, "a call", told(call(t.Context(), set.With(policy.AllowDestructive), "refund", `{"n":1}`)), `{"n":1}`)
}
