package sandbox_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// A session continues after a program that submitted, wherever it did.
func TestSessionAfterSubmit(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		set := newSet(t, tools.Func("note", "", func(context.Context, struct{}) (int, error) { return 1, nil }, nil))
		for name, source := range map[string]string{
			"at once":       `const a = 1; submit(a)`,
			"in a function": `const a = 1; [1].forEach(() => submit(a))`,
			"after await":   `const a = await Promise.resolve(1); submit(a)`,
			"after a call":  `const a = await note({}); submit(a)`,
			"in a callback": `const a = 1; await note({}).then(() => submit(a))`,
			"in a timer":    `const a = 1; setTimeout(() => submit(a), 1); await sleep(1000)`,
			"in an async callback": `const a = 1; await Promise.all([1, 2].map(async n => { if (n === 2) { await note({}` +
				`); submit(a) } }))`,
			"in finally":     `const a = 1; try { await note({}) } finally { submit(a) }`,
			"in a getter":    `const a = 1; const o = { get x() { submit(a) } }; await Promise.resolve(o.x)`,
			"in then":        `const a = 1; await { then() { submit(a) } }`,
			"and continues":  `const a = 1; try { submit(a) } catch { submit(3); await note({}) } finally { submit(4) }`,
			"in a generator": `const a = 1; function* g() { yield 1; submit(a) } for (const x of g()) await x`,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				session := box.NewSession(nil)
				for i, s := range []step{
					{source, "submitted: 1"},
					{`const b = await note({}) + await Promise.resolve(1); [a, b]`, "value: [1,2]"},
					{`await sleep(1); setTimeout(() => submit(b), 1); await sleep(1000)`, "submitted: 2"},
					{`let c = 0; await Promise.all([note({}).then(n => c += n), note({}).then(n => c += n)]); [a, b, c]`,
						"value: [1,2,2]"},
					{`throw new Error("made anew")`, "made anew"},
					{`[a, b, c, await note({})]`, "value: [1,2,2,1]"},
				} {
					out, err := session.Run(t.Context(), sandbox.Program{Source: s.source, Tools: set, Submit: true})
					if got := outcomeOf(out, err); !strings.Contains(got, s.want) {
						t.Fatalf("program %d: %s\ngave %s\nwant %s", i+1, s.source, got, s.want)
					}
				}
			})
		}
	})
}

// A program that does not end when it is run again loses the session.
func TestSessionLostBySubmit(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{Time: 300 * time.Millisecond}, func(t *testing.T, box *sandbox.Sandbox) {
		session := box.NewSession(nil)
		out, err := session.Run(t.Context(), sandbox.Program{
			Source: `for (;;) try { submit(1) } catch {}`, Submit: true, Limits: sandbox.Limits{Time: ample}})
		if err != nil || !out.Submitted {
			t.Fatal(outcomeOf(out, err))
		}
		if out, err := session.Run(t.Context(), sandbox.Program{Source: `1`}); out != nil ||
			!errors.Is(err, sandbox.ErrSessionLost) {
			t.Errorf("got %v, %v", out, err)
		}
	})
}
