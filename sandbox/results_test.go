package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// sized returns a text of so many bytes of JSON, or an error with so many.
func sized(name string, fail bool) *tools.Tool {
	type args struct{ Bytes int }
	return tools.Func(name, "", func(_ context.Context, a args) (string, error) {
		text := strings.Repeat("x", a.Bytes-2)
		if fail {
			return "", errors.New(text + "xx")
		}
		return text, nil
	}, nil)
}

// Results beyond the limits do not reach the program, which is told that the calls
// were made; what else it calls works.
func TestResultLimits(t *testing.T) {
	t.Parallel()
	set := newSet(t, sized("get", false), sized("fail", true))
	for _, c := range []struct {
		limits       sandbox.Limits
		source, want string
	}{
		{sandbox.Limits{Result: 100}, `[(await get({Bytes: 100})).length, await get({Bytes: 101}).catch(e => [e.kind, e.message])]`,
			`[98,["too_large","the call was made, but its result has 101 bytes; 100 are allowed; ask for less at a time"]]`},
		{sandbox.Limits{Results: 150}, `const got = []; for (const Bytes of [100, 51, 50, 1e6]) got.push(await get({Bytes}).then(s => s.length, e => e.message)); got`,
			`[98,"the call was made, but its result has 51 bytes, and all results of the program together may have 150, of which 50 are left; ask for less, or go on in another program",48,` +
				`"the call was made, but its result has 1000000 bytes, and all results of the program together may have 150, of which 0 are left; ask for less, or go on in another program"]`},
		{sandbox.Limits{Result: 100}, `await fail({Bytes: 101}).catch(e => [e.kind, e.message, e.tool])`,
			`["failed","the call failed, and its error has 101 bytes; 100 are allowed; ask for less at a time","fail"]`},
		{sandbox.Limits{}, `[(await get({Bytes: 4 << 20})).length, await get({Bytes: (4 << 20) + 1}).catch(e => e.kind)]`, `[4194302,"too_large"]`},
	} {
		eachTier(t, c.limits, func(t *testing.T, box *sandbox.Sandbox) {
			for range 2 { // each run has limits of its own
				out, err := box.Run(t.Context(), sandbox.Program{Source: c.source, Tools: set})
				if got := outcomeOf(out, err); !strings.HasPrefix(got, "value: "+c.want+"\n") {
					t.Errorf("%s\ngot  %.1000s\nwant %s", c.source, got, c.want)
				}
			}
		})
	}
}

// An effect whose result is too large was made: the journal says so, and a second
// attempt is answered from it.
func TestLargeResultOfEffect(t *testing.T) {
	t.Parallel()
	box := open(t, sandbox.NewInProcess)
	calls := 0
	set := newSet(t, &tools.Tool{Name: "send", Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) {
		calls++
		return json.RawMessage(`"` + strings.Repeat("x", 5<<20) + `"`), nil
	}})
	record := journal.New(nil)
	for range 2 {
		out, err := box.Run(t.Context(), sandbox.Program{
			Source: `await send({}).catch(e => e.kind)`, Tools: set, Attempt: record.Attempt(),
		})
		if err != nil || string(out.Value) != `"too_large"` {
			t.Fatal(outcomeOf(out, err))
		}
	}
	entries := record.Entries()
	if calls != 1 || len(entries) != 1 || entries[0].State != journal.OK {
		t.Errorf("%d calls; %v", calls, entries)
	}
}

// A program that asks for large results again and again does not fill the host.
func TestResultsAreBounded(t *testing.T) {
	t.Parallel()
	box := open(t, sandbox.New)
	set := newSet(t, &tools.Tool{Name: "dump", Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`"` + strings.Repeat("x", 5<<20) + `"`), nil
	}})
	const source = `let failed = 0; for (let i = 0; i < 100; i++) await dump({}).catch(() => failed++); failed`
	out, err := box.Run(t.Context(), sandbox.Program{Source: source, Tools: set})
	if err != nil || string(out.Value) != "100" {
		t.Fatal(outcomeOf(out, err))
	}
	kept := 0
	for _, c := range out.Calls {
		kept += len(c.Result)
	}
	if kept > 0 {
		t.Errorf("%d bytes are kept", kept)
	}
}
