package sandbox_test

import (
	"testing"

	"github.com/writ-go/writ/sandbox"
)

// A name of an earlier program is not only said to be undefined.
func TestEarlier(t *testing.T) {
	t.Parallel()
	box := openTiers(t, sandbox.Limits{})["isolated"]
	first := "const rows = [1], {a} = {}; let b; function f() { const c = 1; return c }\nclass D {}"
	out, err := box.Run(t.Context(), sandbox.Program{Source: first})
	if err != nil {
		t.Fatal(err)
	}
	const afresh = " is not defined (an earlier program declared it, but every program starts afresh; declare it again)"
	for source, want := range map[string]string{
		"rows.length": "line 1, column 1: rows" + afresh,
		"a + 1":       "line 1, column 1: a" + afresh,
		"b = 1":       "line 1, column 1: b" + afresh,
		"new D()":     "line 1, column 5: D" + afresh,
		"c + 1":       "line 1, column 1: c is not defined",
		"{ let b = 1 }\nb;": "line 2, column 1: b is not defined " +
			"(line 1 declares it inside a block or function; declare it outside)",
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
