package convert

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// FuzzJSON decodes a value and encodes it again. Only duplicate members and numbers that
// a float64 cannot hold may change.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{
		`null`, `true`, `0`, `-0`, `1.5e300`, `9007199254740993`, `-9007199254740993`, `0.1`, `1e-7`,
		`"\u0000\ud800 é😀<\u2028"`, `""`, `[]`, `{}`,
		`{"__proto__": {"a": 1}, "constructor": [], "toJSON": "x", "": 0, "1": 2}`,
		`[[[1, null]], {"a": {"b": [false]}}]`, nest(engine.MaxDepth), nest(engine.MaxDepth + 1), `1 2`, `[1,`,
		`1e999`, `123456789012345678901234567890`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := Converter{VM: goja.New()}
		v, err := c.Decode(json.RawMessage(text), nil)
		if err != nil || !json.Valid([]byte(text)) {
			if err == nil {
				t.Error("decoded, although it is not JSON")
			}
			return
		}
		if err := engine.Check(json.RawMessage(text)); err != nil {
			t.Errorf("decoded, although Check returned: %v", err)
		}
		back, err := c.Encode(v, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if want := canonical(t, []byte(text)); !reflect.DeepEqual(canonical(t, back), want) {
			t.Errorf("%s came back as %s", text, back)
		}
	})
}

func nest(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// canonical decodes JSON with encoding/json, which drops what the VM drops.
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
		nest(engine.MaxDepth): "", nest(engine.MaxDepth + 1): engine.ErrTooDeep.Error(),
		`1 2`: "invalid character '2' after top-level value", `1e999`: "the number 1e999 is out of range",
		`{"a": }`: "invalid character '}' looking for beginning of value",
	} {
		c := Converter{VM: goja.New()}
		_, err := c.Decode(json.RawMessage(text), nil)
		if got := message(err); got != want {
			t.Errorf("%.20s: got %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		nest(engine.MaxDepth): "", nest(engine.MaxDepth + 1): engine.ErrTooDeep.Error(), `["[[", "\"[", "\\"]`: "",
		strings.Repeat(`[],`, 1000): "",
	} {
		if got := message(engine.Check(json.RawMessage(text))); got != want {
			t.Errorf("%.20s: Check says %q, want %q", text, got, want)
		}
	}
}

func TestEncodeLimit(t *testing.T) {
	t.Parallel()
	for source, fits := range map[string]bool{
		`"12345678"`: true, `"123456789"`: false, `[1,2,3,4]`: true, `[1,2,3,456]`: false, `["12", "1"]`: true,
		`["12", "123"]`: false, `({a:1234})`: true, `({a: 12345})`: false,
		`new Map([["ab", 12]])`: true, `new Map([["abc", 123]])`: false, `12345678901n`: false,
		`new Set(["abcdefgh"])`: false,
	} {
		vm := goja.New()
		v, err := vm.RunString(source)
		if err != nil {
			t.Fatal(err)
		}
		text, err := (&Converter{VM: vm}).Encode(v, 10)
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
