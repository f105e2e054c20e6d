package vm

import (
	"reflect"
	"testing"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/enginetest"
)

// Whether a promise is handled is read from an unexported field of goja. If this test
// fails, calls that are never awaited are no longer reported.
func TestHandled(t *testing.T) {
	t.Parallel()
	vm := goja.New()
	promise, resolve, _ := vm.NewPromise()
	set(t, vm, "p", promise)
	if !tellsHandled || handled(promise) {
		t.Error("a new promise counts as handled")
	}
	if _, err := vm.RunString(`String(p); JSON.stringify(p); [p].length`); err != nil || handled(promise) {
		t.Error("a promise that was only inspected counts as handled", err)
	}
	if err := resolve(1); err != nil || handled(promise) {
		t.Error("a promise that was settled counts as handled", err)
	}
	if _, err := vm.RunString(`p.then(() => 1)`); err != nil || !handled(promise) {
		t.Error("a promise with a handler does not count as handled", err)
	}
}

// The list of promises does not keep the results of awaited calls in memory.
func TestPromisesAreForgotten(t *testing.T) {
	t.Parallel()
	vm := goja.New()
	var list promises
	for range 1000 {
		promise, _, _ := vm.NewPromise()
		set(t, vm, "p", promise)
		if _, err := vm.RunString(`p.then(() => 1)`); err != nil {
			t.Fatal(err)
		}
		list.add(callPromise{promise: promise})
	}
	if len(list.made) > 1 {
		t.Errorf("%d promises are kept", len(list.made))
	}
}

// at returns a position in the first line.
func at(column int) engine.Pos { return engine.Pos{Line: 1, Column: column} }

func dropped(calls, column int) engine.PromiseMisuse {
	return engine.PromiseMisuse{Use: engine.Dropped, Tool: 1, Calls: calls, Call: at(column), Pos: at(column)}
}

func TestStrays(t *testing.T) {
	t.Parallel()
	for source, want := range map[string][]engine.PromiseMisuse{
		`await refund({})`:                                 nil,
		`refund({}).then(() => 1)`:                         nil,
		`async function f() { return refund({}) } await f`: nil,
		`refund({});` + "\nawait refund({})":               {dropped(1, 1)},
		`[1, 2].map(id => refund({id})); 1`:                {dropped(2, 18)},
		`const p = refund({}); console.log([p]); await p`: {
			{Use: engine.Printed, Tool: 1, Awaited: true, Call: at(11), Pos: at(31)},
		},
		`let p; refund({}).then(() => 1); p = (async () => 1)(); p + ""`: {
			{Use: engine.Converted, Tool: -1, Pos: at(57)},
		},
		`const p = refund({}); JSON.stringify({p})`: {
			{Use: engine.Written, Tool: 1, Call: at(11), Pos: at(28)},
			dropped(1, 11),
		},
		`const n = refund({}).total`: {
			{Use: engine.Read, Tool: 1, Call: at(11), Pos: at(22)},
			dropped(1, 11),
		},
		`try { const [a] = refund({}); a.b } catch {}`: {
			{Use: engine.Read, Tool: 1, Call: at(19), Pos: at(19)},
			dropped(1, 19),
		},
		`const all = [1].map(async () => 1); all.filter(n => n.total > 1); await refund({}); all.find(n => n.total > 1)`: {
			{Use: engine.Read, Tool: -1, Pos: at(101)},
		},
		`const p = refund({}); if (p.then && !p.total) await p`: nil,
		`refund({}); await new Promise(() => 1)`:                nil, // a deadlock
	} {
		got := new(Engine).Run(t.Context(), job(source), &enginetest.Host{})
		if !reflect.DeepEqual(got.PromiseMisuses, want) {
			t.Errorf("%s\ngave %+v\nwant %+v", source, got.PromiseMisuses, want)
		}
	}
}

func set(t *testing.T, vm *goja.Runtime, name string, value any) {
	if err := vm.Set(name, value); err != nil {
		t.Fatal(err)
	}
}
