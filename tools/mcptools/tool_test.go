package mcptools

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

// Policies use the hints of trusted servers only. Replay uses those of all servers.
func TestPoliciesBelieveTrustedServersOnly(t *testing.T) {
	t.Parallel()
	claims := script{
		"tools/list": result(`{"tools":[
			{"name":"look","annotations":{"readOnlyHint":true}},
			{"name":"drop","annotations":{"destructiveHint":true}}]}`),
		"tools/call": result(`{"content":[{"type":"text","text":"done"}]}`),
	}.whole()
	refuse := func(context.Context, policy.Request) (policy.Decision, error) { return policy.Decision{}, nil }
	for _, c := range []struct {
		name       string
		o          *Options
		look, drop string
		warning    string
	}{
		{"a stranger", nil, "not approved: do without this call", "not approved: do without this call", ""},
		{"trusted", &Options{Trust: []string{"s"}}, `"done"`, "not approved: do without this call",
			"destructive tools can be called without approval: s.drop; add policy.Approve to the set, or " +
				"policy.AllowDestructive if that is intended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			set, err := tools.NewSet(t.Context(), serve(t, claims, c.o))
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "warnings without a policy", strings.Join(set.Warnings(), "\n"), c.warning)
			set = set.With(policy.If(policy.Not(policy.Class(tools.Read)), policy.Approve(refuse)))
			equal(t, "warnings", strings.Join(set.Warnings(), "\n"), "")
			for i, want := range []string{c.look, c.drop} {
				got, err := dispatch.New(set, nil).Issue(tools.Call{ID: 1, Args: json.RawMessage(`{}`)}, i).Perform(t.Context())
				if err != nil {
					got = json.RawMessage(strings.TrimPrefix(err.Error(), "tool "+set.Bindings()[i].Path()+": "))
				}
				equal(t, set.Bindings()[i].Path(), string(got), want)
			}
		})
	}
}
