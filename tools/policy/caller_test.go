package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

// Mistakes in policies are reported before any call.
func TestWarnings(t *testing.T) {
	t.Parallel()
	set := newSet(t, tool("ok", tools.Hints{}, echo), tool("mail.send", tools.Hints{}, echo),
		tool("mail.send/now", tools.Hints{}, echo))
	refund := policy.Tools("refund")
	for _, test := range []struct {
		name   string
		policy tools.Policy
		want   []string
	}{
		{"fine", policy.Deny(policy.Tools("ok", "mail.*", "mail.send/now", "mail.send_now"), ""), nil},
		{"nearly", policy.Deny(policy.Tools("okk"), ""), []string{`policy.Tools: "okk" matches no tool (did you mean ok?)`}},
		{"allowed", policy.Allow(policy.Tools("mail.sent"), ""),
			[]string{`policy.Tools: "mail.sent" matches no tool (did you mean mail.send?)`}},
		{"no similar name", policy.If(refund, policy.Approve(ask)), []string{`policy.Tools: "refund" matches no tool`}},
		{"a misspelt server", policy.Deny(policy.Tools("mial.*"), ""),
			[]string{`policy.Tools: "mial.*" matches no tool (did you mean mail.*?)`}},
		{"for tools added later", policy.Deny(policy.Tools("*.delete_*", "shell.*", "mail.delete_*"), ""), nil},
		{"of several", policy.Deny(policy.And(policy.Tools("ok"), policy.Or(refund, policy.Not(policy.Tools("okk")))), ""),
			[]string{`policy.Tools: "refund" matches no tool`, `policy.Tools: "okk" matches no tool (did you mean ok?)`}},
		{"made wrongly", policy.If(refund, policy.Deny(refund, ""), policy.Approve(nil), policy.Timeout(0)), []string{
			`policy.Tools: "refund" matches no tool`,
			"policy: Timeout needs a positive time, not 0s; every call will end the run",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := set.With(test.policy, nil).Warnings(); !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}
