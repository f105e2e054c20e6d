package worker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func canonicalOf(text []byte) ([]byte, error) { return canonical(text, math.MaxInt) }

// isCanonical reports whether text is valid canonical JSON, or nil.
func isCanonical(text []byte) bool {
	if text == nil {
		return true
	}
	again, err := canonicalOf(text)
	return err == nil && bytes.Equal(again, text) && json.Valid(text) && utf8.Valid(text)
}

func TestCanonical(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	many := func(extra string) string {
		var b strings.Builder
		for i := range 100 {
			fmt.Fprintf(&b, `"k%d":%d,`, i, i)
		}
		return "{" + b.String() + extra + "}"
	}
	for _, tt := range []struct{ in, want, err string }{
		{in: " { \"b\" : 1 ,\n\"a\" : [ ] } ", want: `{"b":1,"a":[]}`},
		{in: `1E400`, want: `1E400`},
		{in: `-0.10e-05`, want: `-0.10e-05`},
		{in: `123456789012345678901234567890.10`, want: `123456789012345678901234567890.10`},
		{in: `"\u0041\/\u00e9<\u2028"`, want: `"A/é<\u2028"`},
		{in: `"\ud83d\ude00"`, want: `"😀"`},
		{in: `"\ud83d"`, want: `"` + "\ufffd" + `"`},
		{in: `"\ude00\ud83dx\ud83d\u0041"`, want: `"` + "\ufffd\ufffdx\ufffdA" + `"`},
		{in: "\"a\xff\xc0b\"", want: `"a` + "\ufffd\ufffd" + `b"`},
		{in: `"\u001f\u007f"`, want: `"\u001f` + "\x7f" + `"`},
		{in: deep(maxDepth), want: deep(maxDepth)},
		{in: many(`"a":1`), want: many(`"a":1`)},
		{in: `{"a":{"a":1},"b":{"a":1}}`, want: `{"a":{"a":1},"b":{"a":1}}`},

		{in: deep(maxDepth + 1), err: "nested deeper than 1024 levels"},
		{in: `{"a":1,"a":1}`, err: `duplicate key "a"`},
		{in: `{"a":1,"\u0061":1}`, err: `duplicate key "a"`},
		{in: `[{"x":{"a":1,"b":2,"a":1}}]`, err: `duplicate key "a"`},
		{in: "{\"\xff\":1,\"\\ud800\":1}", err: "duplicate key \"\ufffd\""},
		{in: many(`"k7":1`), err: `duplicate key "k7"`},
		{in: ``, err: "unexpected end of JSON input"},
		{in: `[1`, err: "unexpected end of JSON input"},
		{in: `"\u12`, err: "unexpected end of JSON input"},
		{in: `"\`, err: "unexpected end of JSON input"},
		{in: `{"a"`, err: "unexpected end of JSON input"},
		{in: `01`, err: `unexpected "0" at byte 0`},
		{in: `1.`, err: `unexpected "1" at byte 0`},
		{in: `+1`, err: `unexpected "+" at byte 0`},
		{in: `[1,]`, err: `unexpected "]" at byte 3`},
		{in: `{,}`, err: `unexpected "," at byte 1`},
		{in: `{a:1}`, err: `unexpected "a" at byte 1`},
		{in: `"` + "\n" + `"`, err: "invalid string at byte 0"},
		{in: `"\x"`, err: "invalid string at byte 0"},
		{in: `"\u00zz"`, err: "invalid string at byte 0"},
		{in: `nulL`, err: `unexpected "n" at byte 0`},
		{in: `1 2`, err: `unexpected "2" at byte 2`},
		{in: "\x00", err: `unexpected "\x00" at byte 0`},
	} {
		got, err := canonicalOf([]byte(tt.in))
		if message(err) != tt.err || err == nil && string(got) != tt.want {
			t.Errorf("%.60q: %.60q, %v; want %.60q, %s", tt.in, got, err, tt.want, tt.err)
		}
	}
}

// FuzzCanonical compares the scanner with encoding/json.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-2.50e+3,"x\n\u00e9\ud83d\ude00\ud800",true,null]}`, `{"a":1,"\u0061":2}`, "\"\xff\"",
		`[[[[]]]]`, `{"a":{"b":{}},"c":[]}`, ` 1 `, `"\u2028"`, `tru`, `-`, `{"":0}`, `1e`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := canonicalOf(in)
		same, unique := members(in)
		switch {
		case !json.Valid(in):
			if err == nil {
				t.Errorf("%q was accepted as JSON", in)
			}
			return
		case !unique:
			if err == nil {
				t.Errorf("%q has the same key twice", in)
			}
			return
		case err != nil:
			if !strings.Contains(err.Error(), "nested deeper") {
				t.Errorf("%q: %v", in, err)
			}
			return
		}
		if !isCanonical(got) {
			t.Errorf("%q became %q", in, got)
		}
		if again, _ := members(got); !reflect.DeepEqual(again, same) {
			t.Errorf("%q became %q: another value", in, got)
		}
	})
}

// members returns the tokens of a JSON text, and whether its keys are unique.
func members(text []byte) (tokens []json.Token, unique bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	unique = true
	var open []map[any]bool // nil for an array
	key := false
	for {
		token, err := d.Token()
		if err == io.EOF {
			return tokens, unique
		}
		if err != nil {
			return nil, unique
		}
		tokens = append(tokens, token)
		inObject := len(open) > 0 && open[len(open)-1] != nil
		switch {
		case token == json.Delim('}') || token == json.Delim(']'):
			open = open[:len(open)-1]
			key = true
			continue
		case inObject && key:
			names := open[len(open)-1]
			unique = unique && !names[token]
			names[token] = true
			key = false
			continue
		case token == json.Delim('{'):
			open = append(open, map[any]bool{})
		case token == json.Delim('['):
			open = append(open, nil)
		}
		key = true
	}
}

// TestDecodeUntrusted decodes messages, most of which must be rejected.
func TestDecodeUntrusted(t *testing.T) {
	t.Parallel()
	const number = "json: cannot unmarshal number %s into Go struct field Call.id of type int"
	for _, tt := range []struct{ in, err string }{
		{`{"id":1,"tool":2,"args":{"x":[1]},"more":null,"line":3,"column":4}`, ""},
		{`{"id":1,"id":2}`, `duplicate key "id"`},
		{`{"id":1,"\u0069d":2}`, `duplicate key "id"`},
		{`{"id":1,"ſ":2}`, `json: unknown field "ſ"`},
		{`{"id":1,"extra":2}`, `json: unknown field "extra"`},
		{`{"id":[1]}`, "too many array elements"},
		{`{"id":"1"}`, `json: cannot unmarshal string into Go struct field Call.id of type int`},
		{`{"id":1.0}`, fmt.Sprintf(number, "1.0")},
		{`{"id":1e2}`, fmt.Sprintf(number, "1e2")},
		{`{"id":99999999999999999999}`, fmt.Sprintf(number, "99999999999999999999")},
		{`{"args":{"a":1,"a":2}}`, `duplicate key "a"`},
		{`{"args":{"a":1,"A":2}}`, ""},
		{`{"id":1}{}`, `unexpected "{" at byte 8`},
		{`[]`, `json: cannot unmarshal array into Go value of type engine.Call`},
		{``, "unexpected end of JSON input"},
	} {
		var c engine.Call
		if err := decodeUntrusted([]byte(tt.in), &c, 0); message(err) != tt.err {
			t.Errorf("%s: %v, want %s", tt.in, err, tt.err)
		}
	}
	var r engine.Report
	if err := decodeUntrusted([]byte(`{"sites":[{"tool":0},{"tool":0}]}`), &r, objectSize); err == nil {
		t.Error("two elements were accepted, but the limit is one")
	}
}

// TestScalarsForStructs sends scalars where the elements are structs. Each is a few bytes and would
// become a struct in the host.
func TestScalarsForStructs(t *testing.T) {
	t.Parallel()
	const room = 10 * objectSize
	for _, element := range []string{`null`, `0`, `""`, `true`} {
		var r engine.Report
		list := "[" + strings.Repeat(element+",", 99) + element + "]"
		for _, body := range []string{
			`{"sites":` + list + `}`, `{"SITES":` + list + `}`, `{"sites":[{"tool":0,"uses":` + list + `}]}`,
		} {
			if err := decodeUntrusted([]byte(body), &r, room); message(err) != "too many array elements" {
				t.Errorf("%s: %v", body, err)
			}
		}
		literal := `{"declared":["a","b"],"sites":[{"args":{"json":{"a":` + list + `}}}]}`
		if err := decodeUntrusted([]byte(literal), &r, room); err != nil {
			t.Errorf("%s: %v", literal, err)
		}
	}
}

// TestBodies checks that each side reads what the other one wrote.
func TestBodies(t *testing.T) {
	t.Parallel()
	at := engine.Pos{Line: 3, Column: 9}
	te := &engine.ToolError{Tool: "a.b", Kind: "denied", Message: "no \"x\"\n\u2028", Data: json.RawMessage(`{"a":[1]}`)}
	for _, body := range []any{
		&engine.Call{ID: 7, Tool: 2, Args: json.RawMessage(`{"a":"é"}`), More: json.RawMessage(`{"same":"x"}`), Pos: at},
		&engine.Call{ID: 1, Args: json.RawMessage(`{}`)},
		&Reply{ID: 3},
		&Reply{ID: 3, Reply: engine.Reply{Value: json.RawMessage(`[1,"x"]`)}},
		&Reply{ID: 3, Reply: engine.Reply{Error: te}},
		&engine.Report{
			Findings: []engine.Finding{{Message: "m", Hint: "h", Pos: at}}, Undeclared: []engine.Name{{Name: "n",
				Assigned: true, Pos: at}},
			Constants: []engine.Write{{Object: "o", Name: "c", Delete: true, Pos: at}},
			Sites: []engine.Site{{Tool: -1, Namespace: "ns", Name: "n",
				Args: &engine.Literal{JSON: json.RawMessage(`null`), Unknown: []string{"/a", "/..."}}, Pos: at}},
		},
		&engine.Result{
			Value: json.RawMessage(`1`), Submitted: true, Stdout: engine.Output{Text: "a\nb", Bytes: 9},
			Failure: &engine.Failure{Kind: "k", Message: "m", Hint: "h", Stack: []engine.Pos{at, {}}, Tool: te, Call: 2,
				Pos: at},
		},
		&engine.Job{
			Source: "x\x00y", Inputs: []engine.Input{{Name: "i", JSON: json.RawMessage(`{}`)}}, Submit: true,
			Tools: []engine.Binding{{Namespace: "n", Names: []string{"a", "b"}}}, Limits: engine.Limits{Time: 5, Output: 6},
		},
		&Hello{Token: "t", Memory: 1 << 40},
		&Ready{},
	} {
		want, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		var wire bytes.Buffer
		if err := NewWriter(&wire).Send(KindCall, 1, body); err != nil {
			t.Fatal(err)
		}
		text := wire.Bytes()[headerSize:]
		for name, decode := range map[string]func(any) error{
			"trusted":    func(v any) error { return json.Unmarshal(text, v) },
			"distrusted": func(v any) error { return decodeUntrusted(text, v, 100*objectSize) },
		} {
			got := reflect.New(reflect.TypeOf(body).Elem()).Interface()
			if err := decode(got); err != nil {
				t.Errorf("%s: %T: %v in %s", name, body, err, text)
			}
			if again, err := json.Marshal(got); err != nil || !bytes.Equal(again, want) {
				t.Errorf("%s: %s, want %s, %v", name, again, want, err)
			}
		}
	}
}

// FuzzDecode compares the decoder with encoding/json, which accepts more.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"id":1,"tool":2,"args":{"x":[1]},"more":null,"line":3,"column":4}`), byte(0))
	f.Add([]byte(`{"sites":[{"tool":-1,"ns":"a","args":{"json":{"a":1},"unknown":["/a"]}}]}`), byte(1))
	f.Add([]byte(`{"value":1,"stdout":{"text":"\ud800"},"stderr":{},"failure":{"kind":"thrown","stack":[{"line":1}`+
		`],"tool":null}}`), byte(2))
	f.Add([]byte(`{"source":"1","tools":[{"names":["a"]}],"inputs":null,"limits":{"time":1}}`), byte(3))
	f.Fuzz(func(t *testing.T, in []byte, which byte) {
		types := []any{engine.Call{}, engine.Report{}, engine.Result{}, engine.Job{}}
		kind := reflect.TypeOf(types[int(which)%len(types)])
		ours, theirs := reflect.New(kind), reflect.New(kind)
		if decodeUntrusted(in, ours.Interface(), 1<<18) != nil {
			return
		}
		if err := json.Unmarshal(in, theirs.Interface()); err != nil {
			t.Fatalf("%q: %v", in, err)
		}
		got, err := json.Marshal(ours.Interface())
		want, err2 := json.Marshal(theirs.Interface())
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		gotTokens, _ := members(got)
		if wantTokens, _ := members(want); !reflect.DeepEqual(gotTokens, wantTokens) {
			t.Errorf("%q: %s, encoding/json %s", in, got, want)
		}
	})
}

// BenchmarkDecode measures how long the host takes to read a call.
func BenchmarkDecode(b *testing.B) {
	body := []byte(`{"id":12,"tool":3,"args":{"customer":"c12","limit":12,"tags":["a","b"],"note":"none"},"line":1,` +
		`"column":37}`)
	for name, decode := range map[string]func(any) error{
		"strict":        func(v any) error { return decodeUntrusted(body, v, 0) },
		"encoding-json": func(v any) error { return json.Unmarshal(body, v) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var c engine.Call
				if err := decode(&c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
