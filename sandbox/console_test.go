package sandbox_test

import (
	"strings"
	"testing"

	"github.com/writ-go/writ/sandbox"
)

// Of a console that is cut, the end is kept besides the beginning.
func TestConsoleTail(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{Output: 160}, func(t *testing.T, box *sandbox.Sandbox) {
		out, err := box.Run(t.Context(), sandbox.Program{Source: `
			for (let i = 0; i < 1000; i++) console.log(i);
			console.error("x".repeat(159));
			0`})
		if err != nil {
			t.Fatal(err)
		}
		if o := out.Stdout; o.Bytes != 3890 || len(o.Text) != 160 || !strings.HasPrefix(o.Text, "0\n1\n2\n") || o.Tail != "7\n998\n999\n" || !o.Cut() {
			t.Errorf("stdout is %+v", o)
		}
		if o := out.Stderr; o != (sandbox.Output{Text: strings.Repeat("x", 159) + "\n", Bytes: 160}) {
			t.Errorf("stderr is %+v", o)
		}
	})
}
