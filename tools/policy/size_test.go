package policy_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

func TestSizes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100)
	for _, test := range []struct {
		name   string
		policy tools.Policy
		args   string
		result string
		err    error
		want   string
	}{
		{"result", policy.MaxResult(3), `{}`, `"x"`, nil, `"x"`},
		{"no result", policy.MaxResult(3), `{}`, ``, nil, ``},
		{"too large a result", policy.MaxResult(3), `{}`, `"xy"`, nil,
			"too_large: the call was made, but its result has 4 bytes, and at most 3 are allowed; request less at a time if " +
				"the tool can"},
		{"error", policy.MaxResult(100), `{}`, ``, errors.New(long), "failed: " + long},
		{"too large an error", policy.MaxResult(99), `{}`, ``, errors.New(long),
			"failed: the call failed, and its error has 100 bytes; at most 99 are allowed"},
		{"too large data", policy.MaxResult(99), `{}`, ``,
			&tools.ToolError{Kind: "odd", Message: "m", Data: json.RawMessage(`"` + long + `"`)},
			"odd: the call failed, and its error has 103 bytes; at most 99 are allowed"},
		{"fatal", policy.MaxResult(9), `{}`, ``, tools.Fatal(errors.New(long)), "fatal: " + long},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			set := newSet(t, tool("it", tools.Hints{}, answer(test.result, test.err))).With(test.policy)
			result, err := call(t.Context(), set, "it", test.args)
			equal(t, "the end", told(result, err), test.want)
			if _, worded := test.err.(*tools.ToolError); test.err != nil && !worded && !errors.Is(err, test.err) {
				t.Errorf("the host does not see why: %v", err)
			}
		})
	}
}
