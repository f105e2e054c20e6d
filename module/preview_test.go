package module

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/writ-go/writ/signature"
)

func encoded(t testing.TB, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// What is too long is shown in part: what it is, how long, how it begins and how
// it ends.
func TestInPart(t *testing.T) {
	t.Parallel()
	type row struct {
		ID   int    `json:"id"`
		Name string `json:"name"`
	}
	var rows []row
	for i := range 5000 {
		rows = append(rows, row{i + 1, fmt.Sprint("n", i+1)})
	}
	long := strings.Repeat("x", 1_000_000)
	for _, c := range []struct {
		value any
		want  string
	}{
		{
			"The beginning" + long + "the end.",
			"a text of 1000021 characters, of which this is a part:\nThe beginning" + strings.Repeat("x", 77) + "\n… 999901 characters …\n" + strings.Repeat("x", 22) + "the end.",
		},
		{
			strings.Repeat("🦉", 5000),
			"a text of 10000 characters, of which this is a part:\n" + strings.Repeat("🦉", 22) + "\n… 9942 characters …\n" + strings.Repeat("🦉", 7),
		},
		{
			rows,
			"an array of 5000 objects, of which this is a part:\n" +
				`[{"id":1,"name":"n1"}, {"id":2,"name":"n2"}, {"id":3,"name":"n3"}, /* … 4996 more … */ {"id":5000,"name":"n5000"}]`,
		},
		{
			[]any{1, "two", nil, true, 3, strings.Repeat("<a>", 300), rows},
			"an array of 7 items: 1 array, 2 texts, 2 numbers, 1 boolean, 1 null, of which this is a part:\n" +
				`[1, "two", null, true, 3, "<a><a><a><a><a><a><a><…><a><a>" /* 900 characters */, /* an array of 5000 objects */]`,
		},
		{
			map[string]any{"a_rows": rows, "b_text": long, "c": 1, "d": map[string]any{"deep": rows}, "e": 2, "f": 3},
			"an object of 6 keys, of which this is a part:\n" +
				`{"a_rows": /* an array of 5000 objects */, "b_text": "xxxxxxxxxxxxxxxxxxxxxx…xxxxxxx" /* 1000000 characters */, "c": 1, /* … 3 more keys … */}`,
		},
		{json.Number(strings.Repeat("7", 9000)), "a number of 9000 digits, of which this is a part:\n" + strings.Repeat("7", 120) + "… /* a number of 9000 digits */"},
	} {
		if got := inPart(encoded(t, c.value), 120); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

// Small inputs take little of the room, and leave it to the others.
func TestPreviews(t *testing.T) {
	t.Parallel()
	text := func(n int) json.RawMessage { return encoded(t, strings.Repeat("y", n)) }
	whole := func(in, out signature.Values) (list []bool) {
		for i := range in {
			list = append(list, string(in[i].JSON) == string(out[i].JSON))
		}
		return list
	}
	for _, c := range []struct {
		sizes []int
		want  string
	}{
		{[]int{10, 7000, 20}, "[true true true]"},
		{[]int{9000}, "[false]"},
		{[]int{7900, 7900}, "[true true]"},
		{[]int{7900, 10, 7900, 7900}, "[true true false false]"},
		{[]int{9000, 7900, 10, 9000}, "[false true true false]"},
	} {
		var in signature.Values
		for i, n := range c.sizes {
			in = append(in, signature.Value{Name: fmt.Sprint("v", i), JSON: text(n)})
		}
		if got := fmt.Sprint(whole(in, previews(in))); got != c.want {
			t.Errorf("%v: %s, want %s", c.sizes, got, c.want)
		}
	}
}

func TestPreviewIsBounded(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 10, 100} {
		var in signature.Values
		for i := range n {
			in = append(in, signature.Value{Name: fmt.Sprint("v", i), JSON: encoded(t, strings.Repeat("é\n", 5_000_000/n))})
		}
		size := 0
		for _, v := range previews(in) {
			size += len(v.JSON)
		}
		if most := min(n*2*partOfInput, allInputs+n*2*leastOfInput); size > most {
			t.Errorf("%d inputs of 15 MB together are shown in %d bytes, more than %d", n, size, most)
		}
	}
}

func FuzzInPart(f *testing.F) {
	for _, seed := range []string{
		`"text"`, `[1,2,3]`, `{"a":[{"b":"c"}],"d":null}`, `[[[[[[]]]]]]`, `""`, `-1.5e300`, `{"":{"":{"":1}}}`, `"\ud800 \u0000 🦉"`, ` [ 1 , "a" ] `,
		`[	                              ]`, `{	                              }`, `[{	                              }, [                           ], 7]`,
	} {
		f.Add([]byte(seed), 50)
		f.Add([]byte(seed), 5)
	}
	f.Fuzz(func(t *testing.T, value []byte, most int) {
		if !json.Valid(value) || most < 0 || most > 5000 {
			t.Skip()
		}
		got := inPart(value, most)
		if !utf8.ValidString(got) && utf8.Valid(value) {
			t.Errorf("not UTF-8: %q", got)
		}
		if got != inPart(value, most) {
			t.Error("it differs from time to time")
		}
		if len(got) > 500+6*most {
			t.Errorf("%d bytes, for %d: %s", len(got), most, got)
		}
	})
}

// BenchmarkPreview is what it takes to show a part of 10 MB.
func BenchmarkPreview(b *testing.B) {
	var rows []map[string]any
	for i := range 100_000 {
		rows = append(rows, map[string]any{"id": i, "name": "somebody's name", "tags": []string{"one", "two", "three", "four", "five", "six"}})
	}
	for name, value := range map[string]any{"text": strings.Repeat("0123456789", 1_000_000), "rows": rows} {
		in := signature.Values{{Name: name, JSON: encoded(b, value)}}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(in[0].JSON)))
			for b.Loop() {
				previews(in)
			}
		})
	}
}
