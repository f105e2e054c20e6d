package sandbox_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// Before a program runs, its tools' declarations show which results are text.
func TestCheckWarnsOfText(t *testing.T) {
	t.Parallel()
	set, err := tools.NewSet(t.Context(),
		tools.Func("read", "", func(context.Context, struct{}) (string, error) { return "", nil }, nil),
		tools.Func("get", "", func(context.Context, struct{}) (map[string]int, error) { return nil, nil }, nil),
		&tools.Tool{Namespace: "wiki", Name: "page", Handler: answers(`""`)})
	if err != nil {
		t.Fatal(err)
	}
	box := openTiers(t, sandbox.Limits{})["inprocess"]
	for source, want := range map[string]string{
		"const page = await read();\npage.title ?? page.length": "wrong_type: line 2, column 6: " +
			"page is text: read returns a string, which has no property title " +
			`(use JSON.parse(page) if the text is JSON)
2 | page.title ?? page.length
  |      ^`,
		"const {a} = JSON.parse(await get());\na": "wrong_type: line 1, column 24: " +
			`the result is an object already, not JSON text (leave out JSON.parse)
1 | const {a} = JSON.parse(await get());
  |                        ^`,
		"const page = await wiki.page();\npage.title": "", // it may return something other than text
	} {
		review, err := box.Check(t.Context(), sandbox.Program{Source: source, Tools: set})
		if err != nil {
			t.Fatal(err)
		}
		if got := listOf(review.Warnings); got != want || len(review.Findings) > 0 {
			t.Errorf("%s\ngot\n%s\nwant\n%s\n%v", source, got, want, review.Findings)
		}
	}
}

// A member that no result has is reported if the declaration lists the members, or if
// another name differs in style alone.
func TestMissingMembers(t *testing.T) {
	t.Parallel()
	list := func(schema, result string) *tools.Tool {
		return &tools.Tool{Namespace: "shop", Name: "list", Handler: answers(result), OutputSchema: json.RawMessage(schema)}
	}
	const (
		page   = `{"next_cursor":"5","orders":[]}`
		closed = `{"type":"object","properties":{"orders":{"type":"array"},"next_cursor":{"type":"string"}},` +
			`"required":["orders"]}`
		open    = `{"type":"object","properties":{"orders":{"type":"array"}},"additionalProperties":true}`
		returns = "shop.list returns {orders, next_cursor?}"
	)
	box := openTiers(t, sandbox.Limits{})["inprocess"]
	for _, test := range []struct{ schema, result, source, want string }{
		{closed, page, "const p = await shop.list(); p.nextCursor ?? 0", "p has no nextCursor: " + returns +
			" (did you mean next_cursor?)"},
		{closed, page, "const p = await shop.list(); p?.data?.items ?? []", "p has no data: " + returns},
		{closed, page, "const {items} = await shop.list(); items ?? 0", "the result has no items: " + returns},
		{closed, page, "(await shop.list()).length ?? 0", "the result has no length: " + returns},
		{closed, page, "const p = JSON.parse(JSON.stringify(await shop.list())); p.total ?? 0", "p has no total: " + returns},
		{open, page, "const p = await shop.list(); p.nextCursor ?? 0",
			"p has no nextCursor: shop.list returns {orders?, next_cursor} (did you mean next_cursor?)"},
		{"", page, "const p = await shop.list(); p.nextCursor ?? 0",
			"p has no nextCursor: shop.list returns {next_cursor, orders} (did you mean next_cursor?)"},

		{closed, `{"orders":[]}`, "const p = await shop.list(); p.next_cursor ?? 0", ""}, // declared
		{closed, `{"orders":[],"more":1}`, "const p = await shop.list(); p.more", ""},    // returned
		{closed, page, "const p = await shop.list(); p.items ?? p.orders", ""},
		{closed, page, "const p = await shop.list(); p.seen = true; p.seen", ""},
		{closed, page, "const p = await shop.list(); Array.isArray(p) ? p.length : 0", ""},
		{closed, page, "const p = await shop.list(); p.hasOwnProperty('x')", ""},
		{open, page, "const p = await shop.list(); p.total ?? 0", ""},
		{"", page, "const p = await shop.list(); p.total ?? 0", ""},
		{"", `[{}]`, "const p = await shop.list(); p.total ?? 0", ""},
	} {
		set, err := tools.NewSet(t.Context(), list(test.schema, test.result))
		if err != nil {
			t.Fatal(err)
		}
		out, err := box.Run(t.Context(), sandbox.Program{Source: test.source, Tools: set})
		if err != nil || out.Failure != nil {
			t.Fatal(err, out.Failure)
		}
		got := ""
		for _, w := range out.Warnings {
			if got += w.Message; w.Hint != "" {
				got += " (" + w.Hint + ")"
			}
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.source, got, test.want)
		}
	}
}
