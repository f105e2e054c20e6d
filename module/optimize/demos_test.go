package optimize

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/writ-go/writ/signature"
)

// A demo is the whole run if it is short and made one call at a time. Otherwise it is the last program, or the first
// call of a tool.
func TestWholeRun(t *testing.T) {
	t.Parallel()
	step := func(name, value, observation string) predictorCall {
		raw, _ := json.Marshal(value)
		return predictorCall{Outputs: signature.Values{{Name: name, JSON: raw}}, Problem: observation}
	}
	long, parallel := strings.Repeat("x", maxRun), step("tool", "search", "two results")
	parallel.parallel = true
	for _, c := range []struct {
		name  string
		calls []predictorCall
		steps int
		last  string
	}{
		{"short", []predictorCall{step("code", "a", "1"), step("code", "b", "")}, 1, "b"},
		{"a long observation is cut", []predictorCall{step("code", "a", long), step("code", "b", "")}, 1, "b"},
		{"a long program", []predictorCall{step("code", long, "1"), step("code", "b", "")}, 0, "b"},
		{"long arguments", []predictorCall{step("tool", "search", "1"), step("tool", long, "")}, 0, "search"},
		{"two calls at once", []predictorCall{parallel, step("tool", "submit", "")}, 0, "search"},
	} {
		d := wholeRun(c.calls)
		if got, _ := json.Marshal(c.last); len(d.Steps) != c.steps || string(d.Outputs[0].JSON) != string(got) {
			t.Errorf("%s: got %d steps and %s", c.name, len(d.Steps), d.Outputs)
		}
		if len(d.Steps) > 0 && len(d.Steps[0].Observation) > maxObservation {
			t.Errorf("%s: the observation has %d bytes", c.name, len(d.Steps[0].Observation))
		}
	}
}
