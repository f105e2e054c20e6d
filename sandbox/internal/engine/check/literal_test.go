package check

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
)

func TestLiteral(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`f()`:                                 `{} []`,
		`f({})`:                               `{} []`,
		`f("x")`:                              `"x" []`,
		`f(x)`:                                `nothing`,
		`f(...x)`:                             `nothing`,
		`f({a: 1, "b c": "x", d: null})`:      `{"a":1,"b c":"x","d":null} []`,
		`f({a: -1.5e3, b: 0x10, c: 1e400})`:   `{"a":-1500,"b":16,"c":null} [/c]`,
		`f({a: 5n, b: +1, c: !0, d: void 0})`: `{"a":null,"b":null,"c":null} [/a /b /c]`,
		"f({a: `x\\n`, b: `x${y}`, c: t`x`})": `{"a":"x\n","b":null,"c":null} [/b /c]`,
		`f({a: undefined, b: true})`:          `{"b":true} []`,
		`f({a, b: x.y, c: g()})`:              `{"a":null,"b":null,"c":null} [/a /b /c]`,
		`f({a: 1, ...x, b: 2})`:               `{"a":1,"b":2} [/a /...]`,
		`f({[k]: 1, b: 2})`:                   `{"b":2} [/...]`,
		`f({a: 1, a: "x"})`:                   `{"a":1} [/a /...]`,
		`f({get a() { return 1 }, b() {}})`:   `{} [/... ]`,
		`f({a: [1, [2], ...x, 3]})`:           `{"a":[1,[2]]} [/a/...]`,
		`f({a: [1, , 3]})`:                    `{"a":[1]} [/a/...]`,
		`f({"a/b": {"c~d": x}})`:              `{"a/b":{"c~d":null}} [/a~1b/c~0d]`,
		`f({__proto__: x, a: 1})`:             `{"a":1} []`,
		`f({a: {b: {c: [{d: x}]}}}, y)`:       `{"a":{"b":{"c":[{"d":null}]}}} [/a/b/c/0/d]`,
	} {
		tree, err := parser.ParseFile(nil, "", source, 0)
		if err != nil {
			t.Fatal(source, err)
		}
		got := "nothing"
		call := tree.Body[0].(*ast.ExpressionStatement).Expression.(*ast.CallExpression)
		if l := arguments(call.ArgumentList, nil); l != nil {
			got = fmt.Sprintf("%s %v", l.JSON, l.Unknown)
			if !json.Valid(l.JSON) {
				t.Errorf("%s: %s is not JSON", source, l.JSON)
			}
		}
		if got != strings.ReplaceAll(want, " ]", "]") {
			t.Errorf("%s\ngave %s\nwant %s", source, got, want)
		}
	}
}
