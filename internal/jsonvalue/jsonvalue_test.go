package jsonvalue_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/jsonvalue"
)

func TestDecodeKeepsNumbersAndOrder(t *testing.T) {
	t.Parallel()
	const raw = `{"z":12345678901234567890.0,"a":[{"]":"\"}<"},-1e3,true,false,null],"":{}}`
	doc, err := jsonvalue.Decode([]byte(raw), 10, true)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(doc.Encode(doc.Value)); got != raw {
		t.Errorf("got  %s\nwant %s", got, raw)
	}
	if doc.Values != 10 || doc.Deepest != 3 || doc.Bytes != len(raw) {
		t.Errorf("got %d values, %d deep, %d bytes", doc.Values, doc.Deepest, doc.Bytes)
	}
	object, _ := doc.Value.(map[string]any)
	delete(object, "a")
	object["n"], object["b"] = 1, 2
	if got := doc.Names(object); !reflect.DeepEqual(got, []string{"z", "", "b", "n"}) {
		t.Errorf("got names %q", got)
	}
}

func TestDecodeErrors(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		``:                        `is not valid JSON: unexpected end of JSON input (byte 0)`,
		`{"a":1`:                  `is not valid JSON: unexpected end of JSON input (byte 6)`,
		`1 2`:                     `is not valid JSON: invalid character '2' after top-level value (byte 3)`,
		`[[[1]]]`:                 `is nested deeper than 2`,
		`1e999999999`:             `contains the number 1e999999999, which is out of range`,
		strings.Repeat("1", 1001): `contains a number that is 1001 characters long; the limit is 1000`,
	} {
		_, err := jsonvalue.Decode([]byte(raw), 2, false)
		if err == nil || err.Error() != want {
			t.Errorf("%.20s: got %v, want %s", raw, err, want)
		}
	}
}

func TestRepeatedNames(t *testing.T) {
	t.Parallel()
	doc, err := jsonvalue.Decode([]byte(`{"a":[{"b":1,"b":2}]`+strings.Repeat(`,"c":1`, 30)+`}`), 10, true)
	if err != nil {
		t.Fatal(err)
	}
	if got := jsonvalue.Path(doc.Value, doc.Repeated[0]); got != "a[0].b" {
		t.Errorf("got %s", got)
	}
	if len(doc.Repeated) != 20 {
		t.Errorf("got %d", len(doc.Repeated))
	}
}

func TestPointer(t *testing.T) {
	t.Parallel()
	at := []string{"a/b", "c~d", "", "0"}
	pointer := jsonvalue.Pointer(at)
	if pointer != "/a~1b/c~0d//0" || !reflect.DeepEqual(jsonvalue.Tokens(pointer), at) {
		t.Errorf("got %s", pointer)
	}
	if v, ok := jsonvalue.Lookup(map[string]any{"a": []any{1, 2}}, []string{"a", "1"}); v != 2 || !ok {
		t.Errorf("got %v, %t", v, ok)
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a<b": `"a<b"`, "\u202e\u2028": `"\u202e\u2028"`, "```js": `"\u0060\u0060\u0060js"`, "\U000e0001": `"\udb40\udc01"`,
	} {
		if got := jsonvalue.Quote(text); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestType(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		` {}`: "object", "\n[]": "array", `"{"`: "string", `true`: "boolean", `false`: "boolean", `-1`: "number",
		`null`: "null", ` `: "null",
	} {
		if got := jsonvalue.Type([]byte(raw)); got != want {
			t.Errorf("%q: got %s, want %s", raw, got, want)
		}
	}
}

// FuzzDecode compares Decode with encoding/json.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"\u00e9\ud83d",null]}`, "\"\xff\"", ` [ ] `, `{"a":{"a":1,"a":2}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		doc, err := jsonvalue.Decode(raw, 100, true)
		if err != nil {
			return
		}
		var want any
		d := json.NewDecoder(strings.NewReader(string(raw)))
		d.UseNumber()
		if err := d.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(doc.Value, want) {
			t.Errorf("%s: got %v, want %v", raw, doc.Value, want)
		}
		again, err := jsonvalue.Decode(doc.Encode(doc.Value), 100, false)
		if err != nil || !reflect.DeepEqual(again.Value, want) {
			t.Errorf("%s: encoded and decoded: %v, %v", raw, again, err)
		}
	})
}
