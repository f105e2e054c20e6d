package prompt

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/writ-go/writ/internal/display"
)

// A long value is described, and its beginning and end are shown.
func TestDescribe(t *testing.T) {
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
			"a string of 1000021 characters, shown in part:\nThe beginning" + strings.Repeat("x", 32) +
				"\n… 999961 characters omitted …\n" + strings.Repeat("x", 7) + "the end.",
		},
		{
			strings.Repeat("🦉", 5000),
			"a string of 10000 characters, shown in part:\n" +
				strings.Repeat("🦉", 11) + "\n… 9972 characters omitted …\n" + strings.Repeat("🦉", 3),
		},
		{
			rows,
			"an array of 5000 objects, shown in part:\n" +
				`[{"id":1,"name":"n1"}, {"id":2,"name":"n2"}, {"id":3,"name":"n3"}, /* … 4996 more … */ {"id":5000,` +
				`"name":"n5000"}]`,
		},
		{
			[]any{1, "two", nil, true, 3, strings.Repeat("<a>", 300), rows},
			"an array of 7 items: 1 array, 2 strings, 2 numbers, 1 boolean, 1 null, shown in part:\n" +
				`[1, "two", null, true, 3, "<a><a><a><a><a><a><a><…><a><a>" /* 900 characters */, ` +
				`/* an array of 5000 objects */]`,
		},
		{
			map[string]any{"a_rows": rows, "b_text": long, "c": 1, "d": map[string]any{"deep": rows}, "e": 2, "f": 3},
			"an object of 6 keys, shown in part:\n" +
				`{"a_rows": /* an array of 5000 objects */, "b_text": /* a string of 1000000 characters */, ` +
				`/* … 4 more keys … */}`,
		},
		{json.Number(strings.Repeat("7", 9000)), "a number of 9000 digits, shown in part:\n" + strings.Repeat("7", 76) +
			"… /* a number of 9000 digits */"},
	} {
		if got := describe(encoded(t, c.value), 120); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

// The value of a program or the result of a tool is shown in full if it fits.
func TestShow(t *testing.T) {
	t.Parallel()
	var rows []map[string]any
	for i := range 812 {
		rows = append(rows, map[string]any{"id": i, "name": fmt.Sprint("row ", i)})
	}
	for _, c := range []struct {
		value any
		want  string
	}{
		{3, "Its value:\n3"},
		{"3860.03", "Its value:\n\"3860.03\""},
		{"", "Its value:\n\"\""},
		{`{"id": 7}`, "Its value is this string:\n{\"id\": 7}"},
		{"one\ntwo", "Its value is this string:\n```\none\ntwo\n```"},
		{"```js\n1\n```", "Its value is this string:\n````\n```js\n1\n```\n````"},
		{
			rows, "Its value is an array of 812 objects, shown in part:\n" +
				`[{"id":0,"name":"row 0"}, {"id":1,"name":"row 1"}, {"id":2,"name":"row 2"}, /* … 808 more … */ {"id":811,` +
				`"name":"row 811"}]`,
		},
		{
			strings.Repeat("a line\n", 200),
			"Its value is a string of 1400 characters, shown in part:\n```\n" + strings.Repeat("a line\n", 8) +
				"… 1330 characters omitted …\na line\na line\n```",
		},
		{[]any{}, "Its value:\n[]"},
		{nil, "Its value:\nnull"},
	} {
		if got := show(encoded(t, c.value), "Its value", " is", 200); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

func FuzzShow(f *testing.F) {
	for _, seed := range []string{
		`"text"`, `[1,2,3]`, `{"a":[{"b":"c"}],"d":null}`, `[[[[[[]]]]]]`, `""`, `-1.5e300`, `{"":{"":{"":1}}}`,
		`"\ud800 \u0000 🦉"`, ` [ 1 , "a" ] `,
		`[	                              ]`, `{	                              }`,
		`[{	                              }, [                           ], 7]`,
	} {
		f.Add([]byte(seed), 50)
		f.Add([]byte(seed), 5)
	}
	f.Fuzz(func(t *testing.T, value []byte, most int) {
		if !json.Valid(value) || most < 0 || most > 5000 {
			t.Skip()
		}
		for what, got := range map[string]string{
			"shown":    show(value, "It", " is", most),
			"part":     valueOf(value).part(most),
			"one line": oneLine(value, most),
		} {
			if !utf8.ValidString(got) && utf8.Valid(value) {
				t.Errorf("%s: not UTF-8: %q", what, got)
			}
			if len(got) > most {
				t.Errorf("%s: %d bytes, for %d: %s", what, len(got), most, got)
			}
		}
		if got := describe(value, most); got != describe(value, most) {
			t.Error("the result is not deterministic")
		}
	})
}

// A duplicate key does not hide the members of an object.
func TestObjectWithAKeyTwice(t *testing.T) {
	t.Parallel()
	value := json.RawMessage(`{"a": 1, "a": 2, "b": "` + strings.Repeat("x", 200) + `"}`)
	if got := describe(value, 60); got != "an object, shown in part:\n"+display.Cut(string(value), 60) {
		t.Errorf("got %s", got)
	}
}
