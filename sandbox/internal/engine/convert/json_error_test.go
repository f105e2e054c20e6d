package convert

import "testing"

func TestJSONError(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a": [1, -2.5e+3, null, true, false, "\u00e9\n"]}`: "",
		``:       `the string is not JSON: unexpected end of JSON input at position 0, near ""`,
		`[1, 2`:  `the string is not JSON: unexpected end of JSON input at position 4, near "[1, 2"`,
		`😀 {`:    `the string is not JSON: invalid character 'ð' looking for beginning of value at position 0, near "😀 {"`,
		`"😀" {}`: `the string is not JSON: invalid character '{' after top-level value at position 5, near "\"😀\" {}"`,
		`{"a": 1,}`: `the string is not JSON: invalid character '}' looking for beginning of object key string ` +
			`at position 8, near "{\"a\": 1,}"`,
		`["a long text", "and more", oops, "more"]`: `the string is not JSON: invalid character 'o' ` +
			`looking for beginning of value at position 28, near " text\", \"and more\", oops, \"more\"]"`,
	} {
		if got := JSONError(text); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", text, got, want)
		}
	}
}
