package tools_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
)

// Policies, the journal and the handler see the arguments with their defaults.
func TestDefaults(t *testing.T) {
	t.Parallel()
	type in struct {
		Query string `json:"query"`
		Limit int    `json:"limit,omitempty" jsonschema:"default=20"`
	}
	var seen []string
	see := func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			seen = append(seen, string(c.Args))
			return next.Call(ctx, c)
		})
	}
	echo := func(_ context.Context, args json.RawMessage) (json.RawMessage, error) { return args, nil }
	set := newSet(t,
		tools.Func("find", "Find.", func(_ context.Context, i in) (int, error) { return i.Limit, nil }, nil),
		&tools.Tool{Namespace: "s", Name: "find", Handler: echo,
			InputSchema: []byte(`{"properties":{"deep":{"type":"boolean","default":true},"n":{"type":"integer","default":1}}}`)},
		&tools.Tool{Namespace: "s", Name: "any", Handler: echo},
	).With(see)
	for i, test := range []struct{ args, want, result string }{
		{`{"query":"x"}`, `{"query":"x","limit":20}`, `20`},
		{`{}`, `{"deep":true,"n":1}`, `{"deep":true,"n":1}`},
		{`{ "b":1 }`, `{ "b":1 }`, `{ "b":1 }`},
	} {
		seen = nil
		result, err := dispatch.New(set, nil).Issue(tools.Call{ID: 1, Args: []byte(test.args)}, i).Perform(t.Context())
		if err != nil || string(result) != test.result || len(seen) != 1 || seen[0] != test.want {
			t.Errorf("tool %d saw %q and gave %s, %v", i, seen, result, err)
		}
	}
}
