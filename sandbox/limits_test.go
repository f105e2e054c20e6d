package sandbox_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// A run may have limits of its own, larger ones, too. A session whose programs had such
// limits is rebuilt with them.
func TestProgramLimits(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{Output: 1000}, func(t *testing.T, box *sandbox.Sandbox) {
		length := func(_ context.Context, in struct{ Text string }) (int, error) { return len(in.Text), nil }
		set := newSet(t, tools.Func("length", "", length, nil))
		const source = `const n = await length({Text: "x".repeat(5000)}); "y".repeat(3000).length + n`
		run := func(source string, l sandbox.Limits) string {
			return outcomeOf(box.Run(t.Context(), sandbox.Program{Source: source, Tools: set, Limits: l}))
		}
		for _, c := range []struct {
			source string
			limits sandbox.Limits
			want   string
		}{
			{source, sandbox.Limits{}, "the argument of length: the value is too large: as JSON it has more than 1000 bytes"},
			{source, sandbox.Limits{Argument: 10_000}, "value: 8000"},
			{`"y".repeat(3000)`, sandbox.Limits{Argument: 10_000}, "as JSON it has more than 1000 bytes"},
			{`"y".repeat(3000).length; "y".repeat(3000)`, sandbox.Limits{Output: 10_000}, "yyyyy"},
			{`for (const i of [1, 2]) await length({Text: ""})`, sandbox.Limits{Calls: 1}, "this program has made the 1 tool calls that it may make"},
			{`1`, sandbox.Limits{Time: -1}, "sandbox: a limit is negative"},
			{`1`, sandbox.Limits{Time: 10_000 * time.Hour}, "sandbox: a limit of time is longer than"},
			{`1`, sandbox.Limits{Memory: 1}, "sandbox: Program.Limits.Memory is set; only the sandbox's Options can set that"},
		} {
			if got := run(c.source, c.limits); !strings.Contains(got, c.want) {
				t.Errorf("%s with %+v\ngave %s\nwant %s", c.source, c.limits, got, c.want)
			}
		}
		session := box.NewSession(nil)
		out, err := session.Run(t.Context(), sandbox.Program{
			Source: source + `; submit("y".repeat(3000))`, Tools: set, Submit: true, Limits: sandbox.Limits{Output: 10_000, Argument: 10_000},
		})
		if err != nil || !out.Submitted {
			t.Fatal(outcomeOf(out, err))
		}
		step{`n`, "value: 5000"}.in(t, session, nil) // the VM is gone
	})
}
