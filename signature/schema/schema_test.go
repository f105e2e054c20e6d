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
		{"huge number", `{"minimum": 1e999999999}`, `schema: contains the number 1e999999999, which is out of range`},
		{"deep", strings.Repeat(`{"not":`, 201) + `{}` + strings.Repeat(`}`, 201), `schema: is nested deeper than 200`},
		{"twice", `{"properties": {"a": {"type": "string", "type": "integer"}}}`, `schema: properties.a.type is given twice`},
		{"big", `{"enum": [` + strings.Repeat("0,", 10_000) + `1]}`, `schema: has 10003 values; the limit is 10000`},
		{"chain", chain(110), `schema: "#/$defs/d9" applies too many schemas to one value`},
		{"doubling", doubling(30), `schema: "#/$defs/d18" applies too many schemas to one value`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := schema.Compile([]byte(test.raw))
			checkError(t, err, test.want)
		})
	}
}

// TestDialects checks what MCP servers and their generators write. The second value of each schema is
// invalid.
func TestDialects(t *testing.T) {
	t.Parallel()
	const draft7 = `{"$schema": "http://json-schema.org/draft-07/schema#", `
	tests := []struct{ name, schema, typ, valid, invalid, want string }{
		{"tuple of draft 7", draft7 + `"properties": {"a": {"items": [{"type": "string"}, {"type": "integer"}], ` +
			`"additionalItems": false}, "b": {"$ref": "#/properties/a/items/1"}}}`,
			`{a?: [string, number]; b?: number /* integer */}`, `{"a": ["x", 1], "b": 1}`, `{"a": ["x"], "b": "x"}`,
			`b must be an integer, not "x"`},
		{"reference next to other keywords in draft 7", draft7 + `"properties": {"a": {"$ref": "#/definitions/s", ` +
			`"minLength": 5}}, "definitions": {"s": {"type": "string"}}}`,
			`{a?: string}`, `{"a": "x"}`, `{"a": 1}`, `a must be a string, not 1`},
		{"definitions in the latest", `{"properties": {"a": {"$ref": "#/definitions/s"}}, "definitions": {"s": {"type": ` +
			`"string"}}}`, `{a?: string}`, `{"a": "x"}`, `{"a": 1}`, `a must be a string, not 1`},
		{"dependencies in the latest", `{"type": "object", "dependencies": {"a": ["b"], "c": {"required": ["d"]}}}`,
			`Record<string, unknown>`, `{"a": 1, "b": 1}`, `{"a": 1}`, `b is required with a`},
		{"draft 4", `{"$schema": "http://json-schema.org/draft-04/schema#", "id": "x", "properties": {"a": {"minimum": 1, ` +
			`"exclusiveMinimum": true}, "id": {"type": "string"}}, "additionalProperties": false}`,
			`{a?: unknown /* ≥ 1 */; id?: string}`, `{"a": 2, "id": "y"}`, `{"a": 1}`, `a must be more than 1, not 1`},
		{"recursive reference of 2019", `{"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveAnchor": ` +
			`true, "properties": {"v": {"type": "integer"}, "next": {"$recursiveRef": "#"}}}`,
			`{v?: number /* integer */; next?: unknown}`, `{"next": {"v": 1}}`, `{"next": {"v": "x"}}`,
			`next.v must be an integer, not "x"`},
		{"dialect of a part", `{"properties": {"a": {"$schema": "http://json-schema.org/draft-07/schema#", "type": ` +
			`"string"}}}`, `{a?: string}`, `{"a": "x"}`, `{"a": 1}`, `a must be a string, not 1`},
		{"identifiers of TypeBox", `{"$id": "https://x.test/s.json", "properties": {"n": {"$id": "T0", "type": "object", ` +
			`"properties": {"kids": {"items": {"$ref": "T0"}, "type": "array"}}}}}`,
			`{n?: {kids?: {kids?: unknown[]}[]}}`, `{"n": {"kids": [{"kids": []}]}}`, `{"n": {"kids": [{"kids": 1}]}}`,
			`n.kids[0].kids must be an array, not 1`},
		{"anchor", `{"properties": {"a": {"$ref": "#it"}}, "$defs": {"x": {"$anchor": "it", "type": "string"}}}`,
			`{a?: string}`, `{}`, `{"a": 1}`, `a must be a string, not 1`},
		{"escaped references", `{"properties": {"x": {"$ref": "#/$defs/a~1b"}, "y": {"$ref": "#/$defs/c%25d"}}, ` +
			`"$defs": {"a/b": {"type": "string"}, "c%d": {"type": "boolean"}}}`,
			`{x?: string; y?: boolean}`, `{"x": "", "y": true}`, `{"x": "", "y": 1}`, `y must be a boolean, not 1`},
		{"reference outside of definitions", `{"properties": {"a": {"$ref": "#/components/schemas/A"}}, "components": ` +
			`{"schemas": {"A": {"type": "string"}}}}`, `{a?: string}`, `{"a": "x"}`, `{"a": 1}`,
			`a must be a string, not 1`},
		{"names like keywords", `{"type": "object", "properties": {"$ref": {"type": "string"}, "type": {"type": ` +
			`"integer"}, "nullable": true, "$id": {"enum": ["x"]}}, "required": ["$ref"]}`,
			`{$ref: string; type?: number /* integer */; nullable?: unknown; $id?: "x"}`,
			`{"$ref": "x", "type": 1, "nullable": 1, "$id": "x"}`, `{"$ref": "x", "type": null}`,
			`type must be an integer, not null`},
		{"nullable of OpenAPI", `{"properties": {"a": {"type": "string", "nullable": true}, "b": {"anyOf": [{"enum": ` +
			`["x"], "nullable": true}]}}}`, `{a?: string | null; b?: "x" | null}`, `{"a": null, "b": null}`,
			`{"a": 1, "b": null}`, `a must be null or a string, not 1`},
		{"not nullable", `{"properties": {"a": {"type": "string", "nullable": false}}}`, `{a?: string}`, `{"a": "x"}`,
			`{"a": null}`, `a must be a string, not null`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := compile(t, test.schema)
			if got := s.TypeScript(nil); got != test.typ {
				t.Errorf("got %s, want %s", got, test.typ)
			}
			checkLines(t, s.Validate([]byte(test.valid)), nil)
			checkLines(t, s.Validate([]byte(test.invalid)), []string{test.want})
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
		why  = `the value cannot be checked: the pattern /^(\w+\/?)+\.pem$/ takes too long on this value`
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
	checkLines(t, s.Validate([]byte(value)), []string{"the value cannot be checked: the pattern /^(a+)+$/ takes " +
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
