package vm

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// FuzzParse looks for sources that crash the parser or the check, or that take them too
// long. All positions must be in the source.
func FuzzParse(f *testing.F) {
	syntax, err := os.ReadFile("../check/testdata/syntax.js") // contains every kind of node
	if err != nil {
		f.Fatal(err)
	}
	for _, source := range []string{
		"1 + 1", "const f = ({a} = {a: 1}) => a\n[f()]", "let a = ;", "}); (() => {", "await fs.lst({a: [1, ...x]})",
		"`${refund({n: -1})}`",
		"for await (x of y) {}", "class A { static #x = 1; get [y]() { return /\\p{L}/u } }", "\"\u2028😀\r\n\" +",
		"if (await refund({}))\r\nx = y\u2029z", "import x from 'y'",
		"(a = (b = (c = 1) => 1) => 1) => 1", string(syntax), "(((((((((((((((((((((1", "#!x", "<!-- x", "'\\ud800'",
		"x = y ? (z) : w => v", "\\u0061 = 1", "é.ü = limit",
	} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 2000 {
			return
		}
		start := time.Now()
		p, failure := parse(keyOf(&engine.Job{Source: source}))
		if failure == nil {
			report := p.report(new(Engine).scope(job(source), nil), job(source))
			for _, s := range report.Sites {
				if s.Args != nil && !json.Valid(s.Args.JSON) {
					t.Errorf("arguments %s", s.Args.JSON)
				}
				within(t, source, s.Pos)
			}
			for _, n := range report.Undeclared {
				within(t, source, n.Pos)
			}
			_, failure = p.compile()
		}
		if failure != nil {
			within(t, source, failure.Pos)
		}
		if took := time.Since(start); took > 2*time.Minute {
			t.Errorf("it took %v", took)
		}
	})
}

func within(t *testing.T, source string, at engine.Pos) {
	t.Helper()
	if at == (engine.Pos{}) {
		return
	}
	lines, columns := engine.NewLineTable(source).Len(), engine.UTF16Len(source)+1
	if at.Line < 1 || at.Line > lines || at.Column < 1 || at.Column > columns {
		t.Errorf("%v is not in the source", at)
	}
}
