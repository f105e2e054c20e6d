package sandbox_test

import (
	"context"
	"testing"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// Before a program runs, the declarations say which results are text.
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
		"const page = await wiki.page();\npage.title": "", // it may return other things than text
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
