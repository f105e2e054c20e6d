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
		"const page = await read();\npage.title ?? page.length": `wrong_type: line 2, column 6: page is text: read returns a string, which has no property title (use JSON.parse(page) if the text is JSON)
2 | page.title ?? page.length
  |      ^`,
		"const {a} = JSON.parse(await get());\na": `wrong_type: line 1, column 24: the result is an object already, not JSON text (leave out JSON.parse)
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

// A name of an earlier program is not only said to be undefined.
func TestEarlier(t *testing.T) {
	t.Parallel()
	box := openTiers(t, sandbox.Limits{})["isolated"]
	out, err := box.Run(t.Context(), sandbox.Program{Source: "const rows = [1], {a} = {}; let b; function f() { const c = 1; return c }\nclass D {}"})
	if err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]string{
		"rows.length":       "line 1, column 1: rows is not defined (an earlier program declared it, but every program starts afresh; declare it again)",
		"a + 1":             "line 1, column 1: a is not defined (an earlier program declared it, but every program starts afresh; declare it again)",
		"b = 1":             "line 1, column 1: b is not defined (an earlier program declared it, but every program starts afresh; declare it again)",
		"new D()":           "line 1, column 5: D is not defined (an earlier program declared it, but every program starts afresh; declare it again)",
		"c + 1":             "line 1, column 1: c is not defined",
		"{ let b = 1 }\nb;": "line 2, column 1: b is not defined (line 1 declares it inside a block or function; declare it outside)",
	} {
		review, err := box.Check(t.Context(), sandbox.Program{Source: source, Earlier: out.Declared})
		if err != nil || len(review.Findings) != 1 {
			t.Fatal(err, review.Findings)
		}
		f := review.Findings[0]
		f.Frame = ""
		if f.String() != want {
			t.Errorf("%s\ngot  %s\nwant %s", source, f, want)
		}
	}
}
