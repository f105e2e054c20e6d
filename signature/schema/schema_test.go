package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/signature/schema"
)

func TestCompileErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, raw, want string }{
		{"cut off", `{`, `schema: is not valid JSON: unexpected end of JSON input (byte 1)`},
		{"trailing", `{} {}`, `schema: is not valid JSON: invalid character '{' after top-level value (byte 4)`},
		{"array", `[]`, `schema: the value must be a boolean or an object, not an array`},
		{"two mistakes", `{"properties": {"a": {"type": "strin", "minLength": -1}}}`, `schema: properties.a.minLength ` +
			`must be at least 0, not -1; properties.a.type must be one of "array", "boolean", "integer", "null", "number", ` +
			`"object", "string", not "strin" (did you mean "string"?)`},
		{"in a definition", `{"$ref": "#/$defs/x", "$defs": {"x": {"required": "a"}}}`, `schema: $defs.x.required must ` +
			`be an array, not "a"`},
		{"remote", `{"$ref": "https://example.com/a.json"}`, `schema: refers to "https://example.com/a.json", which is ` +
			`not loaded; copy it into $defs`},
		{"file", `{"$ref": "file:///etc/passwd"}`, `schema: refers to "file:///etc/passwd", which is not loaded; copy ` +
			`it into $defs`},
		{"dialect", `{"$schema": "https://example.com/meta"}`, `schema: refers to "https://example.com/meta", which is ` +
			`not loaded; copy it into $defs`},
		{"dangling", `{"$ref": "#/$defs/x"}`, `schema: json-pointer in "#/$defs/x" not found`},
		{"endless", `{"$ref": "#"}`, `schema: the reference at "#" is circular`},
		{"endless pair", `{"items": {"anyOf": [{"$ref": "#/items"}]}}`, `schema: the reference at "#/items" is circular`},
		{"pattern", `{"properties": {"a": {"pattern": "("}}}`, `schema: properties.a.pattern must be of format regex, ` +
			`not "("`},
		{"huge number", `{"minimum": 1e999999999}`, `schema: has the number 1e999999999, which is out of range`},
		{"deep", strings.Repeat(`{"not":`, 201) + `{}` + strings.Repeat(`}`, 201), `schema: is nested deeper than 200`},
		{"twice", `{"properties": {"a": {"type": "string", "type": "integer"}}}`, `schema: properties.a.type is given twice`},
		{"big", `{"enum": [` + strings.Repeat("0,", 10_000) + `1]}`, `schema: has 10003 values; the limit is 10000`},
		{"chain", chain(110), `schema: "#/$defs/d9" combines too many schemas for one value`},
		{"doubling", doubling(30), `schema: "#/$defs/d18" combines too many schemas for one value`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := schema.Compile([]byte(test.raw))
			checkError(t, err, test.want)
		})
	}
}

// chain returns a schema of n references, one to the next.
func chain(n int) string {
	return defs(n, func(next string) string { return `{"$ref": "` + next + `"}` })
}

// doubling returns a schema that checks one value 2ⁿ times.
func doubling(n int) string {
	return defs(n, func(next string) string {
		return `{"allOf": [{"$ref": "` + next + `"}, {"$ref": "` + next + `"}]}`
	})
}

func defs(n int, body func(next string) string) string {
	var b strings.Builder
	b.WriteString(`{"$ref": "#/$defs/d0", "$defs": {`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d": %s,`, i, body(fmt.Sprintf("#/$defs/d%d", i+1)))
	}
	fmt.Fprintf(&b, `"d%d": {}}}`, n)
	return b.String()
}

func TestRawIsCompactAndOwn(t *testing.T) {
	t.Parallel()
	s := compile(t, `{ "type" : "string" }`)
	s.Raw()[0] = 'x'
	if got := string(s.Raw()); got != `{"type":"string"}` {
		t.Errorf("got %s", got)
	}
}

func TestLargeSchemaCompilesSoon(t *testing.T) {
	skipSlow(t)
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"properties": {"a": true`)
	for i := range 4_500 {
		fmt.Fprintf(&b, `, "p%d": {"type": "string"}`, i)
	}
	b.WriteString(`}}`)
	compile(t, b.String())
}

// TestSlowPattern has values on which a pattern backtracks endlessly. They are refused
// under every keyword; other values are checked as usual.
func TestSlowPattern(t *testing.T) {
	t.Parallel()
	const (
		slow = `"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"`
		why  = `the value could not be checked: the pattern /^(\w+\/?)+\.pem$/ takes too long on this value`
		is   = `{"pattern":"^(\\w+\\/?)+\\.pem$"}`
	)
	for _, test := range []struct{ schema, fits, wrong string }{
		{is, `"keys/a.pem"`, `"a.txt"`},
		{`{"not":` + is + `}`, `"a.txt"`, `"keys/a.pem"`},
		{`{"oneOf":[` + is + `,{"maxLength":3}]}`, `"keys/a.pem"`, `"a.txt"`},
		{`{"if":` + is + `,"then":false}`, `"a.txt"`, `"keys/a.pem"`},
		{`{"anyOf":[` + is + `,{"type":"string","minLength":8}]}`, `"keys/a.pem"`, `"a.txt"`},
	} {
		t.Run(test.schema, func(t *testing.T) {
			t.Parallel()
			if test.schema != is {
				skipSlow(t)
			}
			s := compile(t, test.schema)
			for range 2 {
				checkLines(t, s.Validate([]byte(slow)), []string{why})
				checkLines(t, s.ValidatePartial([]byte(slow), []string{"/nowhere"}), nil)
				checkLines(t, s.Validate([]byte(test.fits)), nil)
				if s.Validate([]byte(test.wrong)) == nil {
					t.Error("after a slow value, an invalid one is accepted")
				}
			}
		})
	}
}

// TestSlowPatterns has many slow matches, each of which ends within its own limit.
func TestSlowPatterns(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"items": {"pattern": "^(a+)+$"}}`)
	value := "[" + strings.Repeat(`"aaaaaaaaaaaaaaaaaa!",`, 10_000) + `""]`
	checkLines(t, s.Validate([]byte(value)), []string{"the value could not be checked: the pattern /^(a+)+$/ takes " +
		"too long on this value"})
}

func BenchmarkValidate(b *testing.B) {
	s, err := schema.Compile([]byte(`{"type": "object", "properties": {"id": {"type": "string"}, "limit": {"type": ` +
		`"integer"}, "tags": {"items": {"type": "string"}}}, "required": ["id"], "additionalProperties": false}`))
	if err != nil {
		b.Fatal(err)
	}
	value := []byte(`{"id": "c1", "limit": 10, "tags": ["a", "b"]}`)
	for b.Loop() {
		if findings := s.Validate(value); findings != nil {
			b.Fatal(findings)
		}
	}
}
