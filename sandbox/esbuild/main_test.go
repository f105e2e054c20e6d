package esbuild_test

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/esbuild"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a bundler and a sandbox, which are closed when the test ends.
func open(t testing.TB, o *esbuild.Options) (*esbuild.Bundler, *sandbox.Sandbox) {
	t.Helper()
	b, err := esbuild.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	box, err := sandbox.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	return b, box
}

// result is how a program ends, in words.
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

// counted is a file system that knows what was opened.
type counted struct {
	fs.FS
	mu     sync.Mutex
	opened []string
}

// Open implements [fs.FS].
func (c *counted) Open(name string) (fs.File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opened = append(c.opened, name)
	return c.FS.Open(name)
}

func (c *counted) list() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.opened, " ")
}
