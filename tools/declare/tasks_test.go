package declare_test

import (
	"strings"
	"testing"

	"github.com/writ-go/writ/tools/declare"
)

// TestTasks checks that a large set is declared in a part that does not depend on the task, with small servers in full,
// and a part with the tools that match the task, within about 2,600 tokens together.
func TestTasks(t *testing.T) {
	t.Parallel()
	pool := tool("pool.opening_hours", "Opening hours of a bath.", `{"type":"object","properties":{"day":{"type":"string"}}}`, "")
	d := declare.New(newSet(t, append(company(t), pool)...), 0)
	for _, want := range []string{"opening_hours(args?: {day?: string})", "declare const tools:", "type Content", "stands for"} {
		if !strings.Contains(d.Text, want) {
			t.Errorf("the text lacks %q:\n%s", want, d.Text)
		}
	}
	const task = "Approve every purchase order of the warehouse in Oslo."
	matching := d.Matching(task)
	for _, want := range []string{"```ts\n", "purchase_approve_order(args: {id: string", "stock_get_warehouse("} {
		if !strings.Contains(matching, want) {
			t.Errorf("the matching tools lack %q:\n%s", want, matching)
		}
	}
	if strings.Contains(matching, "opening_hours") {
		t.Errorf("a tool is declared twice:\n%s", matching)
	}
	if n := declare.Tokens(d.Text + matching); n > 2600 || n < 1800 {
		t.Errorf("%d tokens", n)
	}
	for _, task := range []string{"", "Xyzzy?"} {
		if got := d.Matching(task); got != "" {
			t.Errorf("%q: got %s", task, got)
		}
	}
	small := newSet(t, company(t)[:12]...)
	if d := declare.New(small, 0); d.Text != declare.Markdown(small, 0) || d.Matching(task) != "" {
		t.Errorf("a small set is declared as %s", d.Text)
	}
	large := newSet(t, company(t)...)
	if d := declare.New(large, 2000); d.Text != declare.Markdown(large, 2000) || declare.Tokens(d.Text+d.Matching(task)) > 2000 {
		t.Error("the tools that match do not fit into a given budget")
	}
	if (*declare.Declarations)(nil).Matching(task) != "" {
		t.Error("nil matches")
	}
}
