package host

import (
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/enginetest"
	"github.com/writ-go/writ/sandbox/internal/worker/child"
)

// TestJudgedTooLate has a host whose verdict takes so long that the program's time is over and its
// worker is gone. The result is a timeout, although nobody received the verdict.
func TestJudgedTooLate(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Kind: child.Sandbox, Max: 1})
	w := first(p)
	j := job("1 + 1")
	j.Limits.Time = 50 * time.Millisecond
	res, err := p.Run(t.Context(), nil, j, &enginetest.Host{OnJudge: func() { <-w.exited }})
	if err != nil || res.Failure == nil || res.Failure.Kind != engine.KindTimeout {
		t.Errorf("%+v (%v), %v", res, res.Failure, err)
	}
}

// TestEngine runs programs, including harmful ones, with the real engine.
func TestEngine(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Kind: child.Sandbox, Memory: 64 << 20})
	members := ""
	for i := range 300 {
		members += "a" + itoa(i) + ": 1, "
	}
	for _, tt := range []struct{ source, value, kind string }{
		{"1+1", "2", ""},
		{"const x = {}; if (!x) await t.f({" + members + strings.Repeat("...x, ", 300) + "}); 3", "3", ""}, // a long report
		{"throw new Error('x'.repeat(1 << 20))", "", engine.KindThrown},
		{"(await t.f({n: 7})).n + 1", "8", ""},
		{"(await Promise.all([t.f({n: 1}), t.f({n: 2})])).map(x => x.n)", "[1,2]", ""},
		{"throw new Error('no')", "", engine.KindThrown},
		{"1 +", "", engine.KindSyntax},
		{"while (true) {}", "", engine.KindTimeout},
		{"await new Promise(() => {})", "", engine.KindDeadlock},
		{"const a = []; a.push(a); a['fla'+'t'](Infinity)", "", engine.KindCrashed},
		{"'x'['repea'+'t'](2**40)", "", engine.KindMemory},
		{"let s = 'x'.repeat(1 << 20), a = []; while (true) a.push((s + a.length).split(''))", "", engine.KindMemory},
	} {
		j := job(tt.source)
		if tt.kind == engine.KindTimeout {
			j.Limits.Time = 100 * time.Millisecond
		}
		j.Limits.Output = 1 << 20
		res, err := p.Run(t.Context(), nil, j, &enginetest.Host{})
		if err != nil {
			t.Fatal(err)
		}
		kind := ""
		if res.Failure != nil {
			kind = res.Failure.Kind
		}
		if string(res.Value) != tt.value || kind != tt.kind {
			t.Errorf("%.80s: %s, %+v", tt.source, res.Value, res.Failure)
		}
	}
}
