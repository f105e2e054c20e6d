package convert

import "testing"

// TestJSONError compares with the messages of Node 20, except for 01 and tru"a".
func TestJSONError(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a": [1, -2.5e+3, null, true, false, "\u00e9\n"]}`: "",
		``:                           "Unexpected end of JSON input",
		`{"a": `:                     "Unexpected end of JSON input",
		`[1, 2`:                      "Expected ',' or ']' after array element in JSON at position 5",
		`{"a": 1`:                    "Expected ',' or '}' after property value in JSON at position 7",
		`{a: 1}`:                     "Expected property name or '}' in JSON at position 1",
		`{"a": 1,}`:                  "Expected double-quoted property name in JSON at position 8",
		`[1,]`:                       `Unexpected token ']', "[1,]" is not valid JSON`,
		`01`:                         "Unexpected non-whitespace character after JSON at position 1",
		`-`:                          "No number after minus sign in JSON at position 1",
		`1.`:                         "Unterminated fractional number in JSON at position 2",
		`1e`:                         "Exponent part is missing a number in JSON at position 2",
		`"a`:                         "Unterminated string in JSON at position 2",
		"\"a\nb\"":                   "Bad control character in string literal in JSON at position 2",
		`"\x"`:                       "Bad escaped character in JSON at position 2",
		`"\u12g4"`:                   "Bad Unicode escape in JSON at position 5",
		`{} {}`:                      "Unexpected non-whitespace character after JSON at position 3",
		`nul "a"`:                    `Unexpected token ' ', "nul "a"" is not valid JSON`,
		`tru"a"`:                     `Unexpected token '"', "tru"a"" is not valid JSON`,
		`<html>an error page</html>`: `Unexpected token '<', "<html>an e"... is not valid JSON`,
		`["a long text", "and more", oops, "more"]`: `Unexpected token 'o', ..."nd more", oops, "mor"... is not valid JSON`,
	} {
		if got := JSONError(text); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", text, got, want)
		}
	}
}
