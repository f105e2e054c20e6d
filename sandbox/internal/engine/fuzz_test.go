package engine

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"
)

// FuzzParse looks for sources that bring down the parse or the report, or that
// take them too long. What they find lies within the source.
func FuzzParse(f *testing.F) {
	syntax, err := os.ReadFile("../check/testdata/syntax.js") // has every kind of node
	if err != nil {
		f.Fatal(err)
	}
	for _, source := range []string{
		"1 + 1", "const f = ({a} = {a: 1}) => a\n[f()]", "let a = ;", "}); (() => {", "await fs.lst({a: [1, ...x]})", "`${refund({n: -1})}`",
		"for await (x of y) {}", "class A { static #x = 1; get [y]() { return /\\p{L}/u } }", "\"\u2028😀\r\n\" +", "if (await refund({}))\r\nx = y\u2029z", "import x from 'y'",
		"(a = (b = (c = 1) => 1) => 1) => 1", string(syntax), "(((((((((((((((((((((1", "#!x", "<!-- x", "'\\ud800'", "x = y ? (z) : w => v", "\\u0061 = 1", "é.ü = limit",
	} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 2000 {
			return
		}
		start := time.Now()
		p, failure := parse(edition{name: "program.js", text: source})
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

func within(t *testing.T, source string, at Pos) {
	t.Helper()
	if at == (Pos{}) {
		return
	}
	if at.Line < 1 || at.Line > len(newSource(source).starts) || at.Column < 1 || at.Column > utf16Len(source)+1 {
		t.Errorf("%v is not in the source", at)
	}
}

// FuzzJSON sends a value into the VM and back. It comes out as it went in, but
// for duplicate members and what a number cannot hold.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{
		`null`, `true`, `0`, `-0`, `1.5e300`, `9007199254740993`, `-9007199254740993`, `0.1`, `1e-7`, `"\u0000\ud800 é😀<\u2028"`, `""`, `[]`, `{}`,
		`{"__proto__": {"a": 1}, "constructor": [], "toJSON": "x", "": 0, "1": 2}`, `[[[1, null]], {"a": {"b": [false]}}]`, nest(maxDepth), nest(maxDepth + 1), `1 2`, `[1,`, `1e999`, `123456789012345678901234567890`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := &run{vm: goja.New()}
		v, err := r.decode(json.RawMessage(text))
		if err != nil || !json.Valid([]byte(text)) {
			if err == nil {
				t.Error("taken, though it is no JSON")
			}
			return
		}
		if err := Check(json.RawMessage(text)); err != nil {
			t.Errorf("decoded, though Check says: %v", err)
		}
		back, err := r.encode(v, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if want := canonical(t, []byte(text)); !reflect.DeepEqual(canonical(t, back), want) {
			t.Errorf("%s came back as %s", text, back)
		}
	})
}

func nest(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// canonical reads JSON as encoding/json does, which drops what the VM drops.
func canonical(t *testing.T, text []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func TestDecodeLimits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		nest(maxDepth): "", nest(maxDepth + 1): errTooDeep.Error(),
		`1 2`: "invalid character '2' after top-level value", `1e999`: "the number 1e999 is out of range", `{"a": }`: "invalid character '}' looking for beginning of value",
	} {
		r := &run{vm: goja.New()}
		_, err := r.decode(json.RawMessage(text))
		if got := message(err); got != want {
			t.Errorf("%.20s: got %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		nest(maxDepth): "", nest(maxDepth + 1): errTooDeep.Error(), `["[[", "\"[", "\\"]`: "", strings.Repeat(`[],`, 1000): "",
	} {
		if got := message(Check(json.RawMessage(text))); got != want {
			t.Errorf("%.20s: Check says %q, want %q", text, got, want)
		}
	}
}

func TestEncodeLimit(t *testing.T) {
	t.Parallel()
	for source, fits := range map[string]bool{
		`"12345678"`: true, `"123456789"`: false, `[1,2,3,4]`: true, `[1,2,3,456]`: false, `["12", "1"]`: true, `["12", "123"]`: false, `({a:1234})`: true, `({a: 12345})`: false,
		`new Map([["ab", 12]])`: true, `new Map([["abc", 123]])`: false, `12345678901n`: false, `new Set(["abcdefgh"])`: false,
	} {
		vm := goja.New()
		v, err := vm.RunString(source)
		if err != nil {
			t.Fatal(err)
		}
		text, err := (&run{vm: vm}).encode(v, 10)
		if fits != (err == nil) || len(text) > 10 {
			t.Errorf("%s: %s, %v", source, text, err)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
