package declare_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
)

// TestUnits holds that the unit of a time is said of arguments and of results, however
// little room there is for the types.
func TestUnits(t *testing.T) {
	t.Parallel()
	type wait struct {
		For time.Duration `json:"for" jsonschema:"description=how long to wait"`
	}
	pause := func(context.Context, wait) (time.Duration, error) { return 0, nil }
	waits := func(context.Context, struct{}) (map[string]wait, error) { return nil, nil }
	set := newSet(t, tools.Func("pause", "Wait.", pause, nil), tools.Func("waits", "All waits.", waits, nil))
	const full = `declare class ToolError extends Error { tool: string; kind: string; data?: unknown }
/** Wait. */
declare function pause(args: {for: number /* integer, nanoseconds. how long to wait */}): Promise<number /* nanoseconds */>;
/** All waits. */
declare function waits(): Promise<Record<string, {for: number /* nanoseconds */}>>;
`
	if got := code(declare.Markdown(set, 0)); got != full {
		t.Errorf("got\n%s\nwant\n%s", got, full)
	}
	for budget := 200; budget > 0; budget-- {
		got := declare.Markdown(set, budget)
		if strings.Contains(got, "for: number}") || strings.Contains(got, "<number>") {
			t.Fatalf("in %d tokens, a number is without its unit:\n%s", budget, got)
		}
	}
}
