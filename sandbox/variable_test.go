package sandbox_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox"
)

func variablesOf(t *testing.T, session *sandbox.Session) string {
	t.Helper()
	list, err := session.Variables(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, v := range list {
		lines = append(lines, v.String())
	}
	return strings.Join(lines, "\n")
}

func ranIn(t *testing.T, session *sandbox.Session, source string) {
	t.Helper()
	if out, err := session.Run(t.Context(), sandbox.Program{Source: source, Submit: true}); err != nil ||
		out.Failure != nil {
		t.Fatalf("%s\ngave %s", source, outcomeOf(out, err))
	}
}

func TestVariables(t *testing.T) {
	t.Parallel()
	programs := map[string]struct{ source, want string }{
		"nothing": {`1`, ""},
		"a table": {
			`const orders = Array.from({length: 812}, (_, id) => ({id, customer: 'customer number ' + id, 'a b': 1, ` +
				`total: 12.5}))`,
			"orders: array of 812 items {id, customer, total}",
		},
		"primitives": {
			`const a = 1, b = 'text', c = true, d = null, e = undefined, f = 12n, g = Symbol('x'); let h`,
			"a: number\nb: text of 4 characters\nc: boolean\nd: null\ne: undefined\nf: bigint\ng: symbol\nh: undefined",
		},
		"collections": {
			`const m = new Map([['a', 1]]), m2 = new Map([[1, 2], [3, 4]]), s = new Set([1, 2]), o = {a: 1, b: {}}, none ` +
				`= {}, one = {x: 1}`,
			"m: Map of 1 item\nm2: Map of 2 items\ns: Set of 2 items\no: object of 2 keys {a, b}\nnone: object\n" +
				"one: object of 1 key {x}",
		},
		"arrays": {
			`const none = [], mixed = [1, 'a'], texts = ['a'], lists = [[1], [2]], bytes = new Uint8Array(5), holes = [, ` +
				`1], dates = [new Date(0)]`,
			"none: array of 0 items\nmixed: array of 2 items\ntexts: array of 1 item\nlists: array of 2 items\nbytes: " +
				"array of 5 items\n" +
				"holes: array of 2 items\ndates: array of 1 item",
		},
		"others": {
			`function f() {} class C {} const d = new Date(), r = /x/, e = new Error('no'), p = Promise.resolve(1), g = ` +
				`(a) => a`,
			"f: function\nC: function\nd: Date\nr: RegExp\ne: Error\np: Promise\ng: function",
		},
		"never assigned": {`submit(1); const late = 1`, ""},
		"large": {
			`const big = Array.from({length: 50_000}, (_, i) => ({i})), text = 'x'.repeat(20_000), small = [1]`,
			"big: array of 50000 items {i}\ntext: text of 20000 characters\nsmall: array of 1 item",
		},
		"contains itself": {`const a = [1]; a.push(a)`, "a: array of 2 items"},
	}
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		for name, c := range programs {
			t.Run(name, func(t *testing.T) {
				session := box.NewSession(nil)
				ranIn(t, session, c.source)
				if got := variablesOf(t, session); got != c.want {
					t.Errorf("got\n%s\nwant\n%s", got, c.want)
				}
			})
		}
	})
}

// No code of a value runs when variables are listed.
func TestVariablesOfHostileValues(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{Compute: 5 * time.Second}, func(t *testing.T, box *sandbox.Sandbox) {
		for name, c := range map[string]struct{ source, want string }{
			"getters": {
				`const o = {get x() { seen++; for (;;); }}, a = [1]; Object.defineProperty(a, 1, {get() { seen++; return 1 }` +
					`, enumerable: true}); 0`,
				"o: object of 1 key {x}\na: array of 2 items",
			},
			"proxies": {
				`const touched = () => { seen++ };
				const handler = {get: touched, has: touched, ownKeys: touched,
					getOwnPropertyDescriptor: touched, getPrototypeOf: touched};
				const p = new Proxy({}, handler), q = new Proxy([1], handler), o = {p};
				const behind = Object.create(p), revoked = Proxy.revocable({}, {});
				revoked.revoke(); const gone = revoked.proxy`,
				"touched: function\nhandler: object of 5 keys {get, has, ownKeys, getOwnPropertyDescriptor, getPrototypeOf}" +
					"\np: object\n" +
					"q: object\no: object of 1 key {p}\nbehind: object\nrevoked: object of 2 keys {proxy, revoke}" +
					"\ngone: object",
			},
			"prototypes": {
				`Object.defineProperty(Array.prototype, 0, {get() { seen++ }, set() { seen++ }});
				Object.defineProperty(Object.prototype, 'value', {set() { seen++ }, get() { seen++ }});
				const list = [, 2]`,
				"list: array of 2 items",
			},
			"built-in functions": {
				`Object.getOwnPropertyDescriptor = Map.prototype.forEach = () => { seen++ };
				Object.defineProperty(Map.prototype, 'size', {get() { seen++ }});
				const m = new Map([[1, 2]])`,
				"m: Map of 1 item",
			},
			"the global object": {
				`const x = 1; Object.defineProperty(globalThis, 'x', {get() { seen++; for (;;); }, configurable: true})`,
				"x: number",
			},
			"toJSON": {`const o = {toJSON() { seen++ }, toString() { seen++ }, [Symbol.toStringTag]: 'x', then: 1}`,
				"o: object of 3 keys {toJSON, toString, then}"},
		} {
			t.Run(name, func(t *testing.T) {
				session := box.NewSession(nil)
				ranIn(t, session, `let seen = 0;`+"\n"+c.source)
				if got := variablesOf(t, session); got != "seen: number\n"+c.want {
					t.Errorf("got\n%s\nwant\n%s", got, c.want)
				}
				step{`seen`, "value: 0"}.in(t, session, nil)
			})
		}
	})
}

// The list contains the variables of the programs that did not fail, also if the VM is
// gone.
func TestVariablesOfASession(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		session := box.NewSession(nil)
		if got := variablesOf(t, session); got != "" {
			t.Errorf("got %s", got)
		}
		ranIn(t, session, `const a = 1; let b = [1]; submit(1)`) // which ends the VM
		step{`b.push(2); const c = 1; throw new Error("no")`, "Error: no"}.in(t, session, nil)
		if got, want := variablesOf(t, session), "a: number\nb: array of 1 item"; got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		ranIn(t, session, `const a = 'again'; b.push('x')`)
		if got, want := variablesOf(t, session), "b: array of 2 items\na: text of 5 characters"; got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		if session.Len() != 2 {
			t.Errorf("the session has %d programs", session.Len())
		}
		record, err := session.AppendRecord(nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := box.RestoreSession(record)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := variablesOf(t, again), variablesOf(t, session); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestVariablesAreBounded(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		session := box.NewSession(nil)
		var b strings.Builder
		for i := range 1200 {
			fmt.Fprintf(&b, "const v%d = %d;\n", i, i)
		}
		ranIn(t, session, b.String())
		list, err := session.Variables(t.Context())
		if err != nil || len(list) != 1000 || list[0].Name != "v200" || list[999].Name != "v1199" {
			t.Errorf("got %d variables, %v", len(list), err)
		}
		var lost *sandbox.Session
		if _, err := lost.Variables(t.Context()); err == nil || errors.Is(err, sandbox.ErrSessionLost) {
			t.Errorf("got %v", err)
		}
	})
}

// Values that take long to inspect are listed in time, also under many names.
func TestVariablesOfLargeValues(t *testing.T) {
	t.Parallel()
	box := openTiers(t, sandbox.Limits{})["isolated"]
	for _, large := range []string{
		"const x = {}; for (let i = 0; i < 100000; i++) x['k' + i] = 1",
		"const x = new Map(); for (let i = 0; i < 100000; i++) x.set(i, i)",
		"const x = [1n << 8000000n]",
	} {
		session := box.NewSession(nil)
		var names []string
		for i := range 900 {
			names = append(names, fmt.Sprintf("v%d = x, w%d = [x]", i, i))
		}
		ranIn(t, session, large+"; const "+strings.Join(names, ", "))
		if list, err := session.Variables(t.Context()); err != nil || len(list) != 1000 {
			t.Errorf("%s: got %d variables, %v", large, len(list), err)
		}
	}
}
