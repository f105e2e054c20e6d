package typescript_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/writ-go/writ/internal/leaktest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/typescript"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m.Run)) }

// ample is more time than anything in a test needs, even on a busy machine.
const ample = 4 * time.Minute

// open returns a compiler and a sandbox, which are closed when the test ends.
func open(t testing.TB, o *typescript.Options) (*typescript.Compiler, *sandbox.Sandbox) {
	t.Helper()
	if o == nil {
		o = &typescript.Options{Time: ample}
	}
	b, err := typescript.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	box, err := sandbox.New(&sandbox.Options{Limits: sandbox.Limits{Time: ample, Compute: ample}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	return b, box
}

// result runs a program and returns its value or failure as text.
func result(t testing.TB, box *sandbox.Sandbox, c sandbox.Compiler, source string) string {
	t.Helper()
	out, err := box.Run(t.Context(), sandbox.Program{Source: source, Compiler: c})
	switch {
	case err != nil:
		return "error: " + err.Error()
	case out.Failure != nil:
		return fmt.Sprint(out.Failure)
	case out.Value == nil:
		return "undefined"
	}
	return string(out.Value)
}
