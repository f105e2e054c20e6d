package vm

import (
	"reflect"
	"testing"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// Whether something reacts to a promise is read from a field of goja's that is not
// exported. If this test fails, calls that nothing awaits are no longer named.
func TestHandled(t *testing.T) {
	t.Parallel()
	vm := goja.New()
	promise, resolve, _ := vm.NewPromise()
	set(t, vm, "p", promise)
	if !tellsHandled || handled(promise) {
		t.Error("goja does not tell that nothing reacts to a promise")
	}
	if _, err := vm.RunString(`String(p); JSON.stringify(p); [p].length`); err != nil || handled(promise) {
		t.Error("a promise that was only looked at counts as handled", err)
	}
	if err := resolve(1); err != nil || handled(promise) {
		t.Error("a promise that was settled counts as handled", err)
	}
	if _, err := vm.RunString(`p.then(() => 1)`); err != nil || !handled(promise) {
		t.Error("goja does not tell that something reacts to a promise", err)
	}
}

// The list of promises keeps no results of calls that were awaited.
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

// at is a place in the first line.
func at(column int) engine.Pos { return engine.Pos{Line: 1, Column: column} }

func TestStrays(t *testing.T) {
	t.Parallel()
	for source, want := range map[string][]engine.Stray{
		`await refund({})`:                                 nil,
		`refund({}).then(() => 1)`:                         nil,
		`async function f() { return refund({}) } await f`: nil,
		`refund({});` + "\nawait refund({})":               {{Use: engine.Dropped, Tool: 1, Calls: 1, Call: at(1), Pos: at(1)}},
		`[1, 2].map(id => refund({id})); 1`:                {{Use: engine.Dropped, Tool: 1, Calls: 2, Call: at(18), Pos: at(18)}},
		`const p = refund({}); console.log([p]); await p`:  {{Use: engine.Printed, Tool: 1, Awaited: true, Call: at(11), Pos: at(31)}},
		`let p; refund({}).then(() => 1); p = (async () => 1)(); p + ""`: {
			{Use: engine.Converted, Tool: -1, Pos: at(57)},
		},
		`const p = refund({}); JSON.stringify({p})`: {
			{Use: engine.Written, Tool: 1, Call: at(11), Pos: at(28)},
			{Use: engine.Dropped, Tool: 1, Calls: 1, Call: at(11), Pos: at(11)},
		},
		`refund({}); await new Promise(() => 1)`: nil, // a deadlock
	} {
		got := new(Engine).Run(t.Context(), job(source), &answering{answer: echo})
		if !reflect.DeepEqual(got.Strays, want) {
			t.Errorf("%s\ngave %+v\nwant %+v", source, got.Strays, want)
		}
	}
}

func set(t *testing.T, vm *goja.Runtime, name string, value any) {
	if err := vm.Set(name, value); err != nil {
		t.Fatal(err)
	}
}
