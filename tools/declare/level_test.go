package declare_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
)

// TestUnits checks that the unit of a duration is shown in arguments and results,
// however small the budget is.
func TestUnits(t *testing.T) {
	t.Parallel()
	type wait struct {
		For time.Duration `json:"for" jsonschema:"description=how long to wait"`
	}
	pause := func(context.Context, wait) (time.Duration, error) { return 0, nil }
	waits := func(context.Context, struct{}) (map[string]wait, error) { return nil, nil }
	set := newSet(t, tools.Func("pause", "Wait.", pause, nil), tools.Func("waits", "All waits.", waits, nil))
	const want = `declare class ToolError extends Error { tool: string; kind: string; id?: string; data?: unknown }
/** Wait. */
declare function pause(args: {for: number /* integer, nanoseconds. how long to wait */}): Promise<number /* nanoseconds */>;
/** All waits. */
declare function waits(): Promise<Record<string, {for: number /* nanoseconds */}>>;
`
	if got := code(declare.Markdown(set, 0)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	step := 10
	if full() {
		step = 1
	}
	for budget := 200; budget > 0; budget -= step {
		got := declare.Markdown(set, budget)
		if strings.Contains(got, "for: number}") || strings.Contains(got, "<number>") {
			t.Fatalf("in %d tokens, a number has no unit:\n%s", budget, got)
		}
	}
}
