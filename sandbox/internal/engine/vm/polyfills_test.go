package vm

import (
	"strings"
	"testing"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/enginetest"
)

// Polyfills exist in every program of a session that names them, and in no other.
func TestPolyfillsInSessions(t *testing.T) {
	t.Parallel()
	e := new(Engine)
	for step, test := range []struct{ source, want string }{
		{`const names = Object.getOwnPropertyNames(Object).filter(name => name.startsWith("group")); names.length`, `0`},
		{`const g = Object.groupBy([1, 2, 3], n => n % 2 ? "odd" : "even"); g`, `{"odd":[1,3],"even":[2]}`},
		{`const copy = structuredClone(g); copy.odd.push(5); g.odd.length`, `2`},
		{`const p = new URLSearchParams("a=1"); p.append("b", atob(btoa("x y"))); String(p)`, `"a=1&b=x+y"`},
		{`p.append("c", "3"); [p instanceof URLSearchParams, p.size, copy.odd.length]`, `[true,3,3]`},
	} {
		j := job(test.source)
		j.Session = &engine.SessionJob{Key: "s", Step: step, Kept: step > 0}
		got := e.Run(t.Context(), j, &enginetest.Host{})
		if got.Failure != nil || string(got.Value) != test.want {
			t.Errorf("%s\ngave %s, %+v; want %s", test.source, got.Value, got.Failure, test.want)
		}
	}
}

// Every polyfill compiles.
func TestPolyfillsCompile(t *testing.T) {
	t.Parallel()
	entries, err := polyfillFiles.ReadDir("polyfills")
	if err != nil || len(entries) == 0 {
		t.Fatal(entries, err)
	}
	for _, entry := range entries {
		compilePolyfill(strings.TrimSuffix(entry.Name(), ".js"))
	}
}
