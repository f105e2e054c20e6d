package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/writ-go/writ/internal/jsonscan"
)

func TestScanner(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text   string
		values int
	}{
		{``, 0},
		{` `, 0},
		{`7`, 1},
		{`"a, [b], {c}"`, 1},
		{`"a\"b,c\\"`, 1},
		{`[]`, 1},
		{` [ ] `, 1},
		{`[1]`, 2},
		{`[1, 2 , 3]`, 4},
		{`[{},{},[]]`, 4},
		{`{"a": 1, "b": {"c": [true, null, -1.5e3]}}`, 7},
		{"[\n\t[\r[]]]", 3},
	} {
		scan := &jsonscan.Scanner{}
		if _, err := scan.Write([]byte(c.text)); err != nil || scan.Values() != c.values {
			t.Errorf("%s: %d values, %v; want %d", c.text, scan.Values(), err, c.values)
		}
		pieces := &jsonscan.Scanner{}
		for i := range len(c.text) {
			if _, err := pieces.Write([]byte{c.text[i]}); err != nil {
				t.Error(err)
			}
		}
		if pieces.Values() != c.values {
			t.Errorf("%s: %d values byte by byte, want %d", c.text, pieces.Values(), c.values)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text   string
		limits jsonscan.Limits
		want   error
	}{
		{`[1,2,3]`, jsonscan.Limits{Values: 4, Elements: 3, Depth: 1}, nil},
		{`[1,2,3]`, jsonscan.Limits{Values: 3}, jsonscan.ErrValues},
		{`[1,2,3]`, jsonscan.Limits{Elements: 2}, jsonscan.ErrElements},
		{` [{"a":1,"b":2},[3,4]]`, jsonscan.Limits{Elements: 2, Depth: 2}, nil},
		{`{"a":[1,2,3]}`, jsonscan.Limits{Elements: 1}, nil},
		{`[[[]]]`, jsonscan.Limits{Depth: 3}, nil},
		{`[[[]]]`, jsonscan.Limits{Depth: 2}, jsonscan.ErrDepth},
		{strings.Repeat(`[`, 1000), jsonscan.Limits{Depth: 999}, jsonscan.ErrDepth},
	} {
		if err := jsonscan.Check([]byte(c.text), c.limits); !errors.Is(err, c.want) {
			t.Errorf("%s with %+v: %v, want %v", c.text, c.limits, err, c.want)
		}
	}
}

// TestWriteAfterError writes on after an error.
func TestWriteAfterError(t *testing.T) {
	t.Parallel()
	scan := &jsonscan.Scanner{Limits: jsonscan.Limits{Values: 3}}
	n, err := scan.Write([]byte(`[1,2,3,4`))
	if n != 5 || !errors.Is(err, jsonscan.ErrValues) {
		t.Errorf("%d, %v; want 5 and ErrValues", n, err)
	}
	scan.Limits.Depth = 1
	if _, err := scan.Write([]byte(`[[[`)); !errors.Is(err, jsonscan.ErrValues) {
		t.Errorf("afterwards: %v, want ErrValues", err)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	text := []byte(`{"a":[` + strings.Repeat(`{},"x",`, 1000) + `1]}`)
	if n := testing.AllocsPerRun(10, func() {
		_ = jsonscan.Check(text, jsonscan.Limits{Values: 1 << 20})
		for range jsonscan.Members(text) {
		}
	}); n > 10 { // what the iterator needs, whatever the size of the text
		t.Errorf("%v allocations", n)
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[]`:                               ``,
		`7`:                                ``,
		`null`:                             ``,
		`"[1]"`:                            ``,
		`[1, "a,]" ,[2,[3]], {"b":4}]`:     `1|"a,]"|[2,[3]]|{"b":4}|`,
		`{}`:                               ``,
		` { "a" : 1 , "b":[2,{"c":3}] } `:  `a=1|b=[2,{"c":3}]|`,
		`{"\u0061\"":1,"":"","a":2,"a":3}`: `a"=1|=""|a=2|a=3|`,
	} {
		var got strings.Builder
		for element := range jsonscan.Elements([]byte(text)) {
			got.WriteString(string(element) + "|")
		}
		for name, value := range jsonscan.Members([]byte(text)) {
			got.WriteString(string(name) + "=" + string(value) + "|")
		}
		if got.String() != want {
			t.Errorf("%s: %s, want %s", text, got.String(), want)
		}
	}
}

// FuzzScan compares the counts with those of encoding/json. In invalid text, a decoder must not
// decode more values than are counted.
func FuzzScan(f *testing.F) {
	for _, text := range []string{
		`[{},{},[1,"a"]]`, `{"a\u0062":1,"c":[null]}`, `[1,2`, `{"a":1,"a":{"b":2}}`, `[1 2]`, `[,`, `"\`, `]`, `{"a"`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		scan := &jsonscan.Scanner{}
		if n, err := scan.Write(text); n != len(text) || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		want, _ := decoded(d)
		valid := json.Valid(text)
		if want > scan.Values() || valid && want != scan.Values() {
			t.Errorf("%q: %d values counted, %d decoded", text, scan.Values(), want)
		}
		var list []json.RawMessage
		for element := range jsonscan.Elements(text) {
			list = append(list, element)
		}
		object := map[string]json.RawMessage{}
		for name, value := range jsonscan.Members(text) {
			object[string(name)] = value
		}
		if valid {
			compare(t, text, list, object)
		}
	})
}

// decoded returns how many values a decoder finds before it fails or the text ends.
func decoded(d *json.Decoder) (n int, err error) {
	token, err := d.Token()
	if err != nil || token == json.Delim(']') || token == json.Delim('}') {
		return 0, err
	}
	n = 1
	if _, ok := token.(json.Delim); !ok {
		return n, nil
	}
	for d.More() {
		if token == json.Delim('{') {
			if _, err := d.Token(); err != nil {
				return n, err
			}
		}
		more, err := decoded(d)
		if n += more; err != nil {
			return n, err
		}
	}
	_, err = d.Token()
	return n, err
}

// compare compares the parts of valid text with what encoding/json finds.
func compare(t *testing.T, text []byte, list []json.RawMessage, object map[string]json.RawMessage) {
	t.Helper()
	var wantList []json.RawMessage
	if json.Unmarshal(text, &wantList) == nil && !slices.EqualFunc(list, wantList, same) {
		t.Errorf("%q: elements %q, want %q", text, list, wantList)
	}
	wantObject := map[string]json.RawMessage{}
	isObject := json.Unmarshal(text, &wantObject) == nil && len(wantObject) > 0
	if isObject && utf8.Valid(text) && !maps.EqualFunc(object, wantObject, same) {
		t.Errorf("%q: members %q, want %q", text, object, wantObject)
	}
}

func same(a, b json.RawMessage) bool { return bytes.Equal(a, b) }
