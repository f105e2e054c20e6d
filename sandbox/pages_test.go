package sandbox_test

import (
	"testing"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// A result with a reference to the next page is reported if the program does not read that
// reference.
func TestFirstPages(t *testing.T) {
	t.Parallel()
	const warning = "shop.list returned next_cursor, so there are more pages, but the program does not read it"
	for _, test := range []struct{ result, source, want string }{
		{`{"orders":[],"next_cursor":"5"}`, "const p = await shop.list(); p.orders.length", warning},
		{`{"orders":[],"next_cursor" : 5}`, "(await shop.list()).orders", warning},
		{`{"orders":[],"next_cursor":"5"}`, "const {orders, next_cursor} = await shop.list(); [orders, next_cursor]", ""},
		{`{"orders":[],"next_cursor":"5"}`, "const p = await shop.list(); p.next_cursor", ""},
		{`{"orders":[],"next_cursor":""}`, "(await shop.list()).orders", ""},
		{`{"orders":[],"next_cursor":null}`, "(await shop.list()).orders", ""},
		{`{"orders":[{"next_cursor":"5"}]}`, "(await shop.list()).orders", ""},
		{`{"orders":[],"context":"5"}`, "(await shop.list()).orders", ""},
		{`"{\"next_cursor\": \"5\"}"`, "await shop.list()", ""},
	} {
		set, err := tools.NewSet(t.Context(), &tools.Tool{Namespace: "shop", Name: "list", Handler: answers(test.result)})
		if err != nil {
			t.Fatal(err)
		}
		for tier, box := range openTiers(t, sandbox.Limits{}) {
			out, err := box.Run(t.Context(), sandbox.Program{Source: test.source, Tools: set})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, w := range out.Warnings {
				got += w.Message
			}
			if got != test.want || out.Failure != nil {
				t.Errorf("%s: %s: got %q, want %q (%v)", tier, test.source, got, test.want, out.Failure)
			}
		}
	}
}
