package schema_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/signature/schema"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	const search = `{"type": "object", "properties": {"customer_id": {"type": "string"}, "limit": {"type": ` +
		`"integer", "minimum": 1}, "recursive": {"type": "boolean"}}, "required": ["customer_id"], ` +
		`"additionalProperties": false}`
	const shape = `{"oneOf": [{"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": ` +
		`"number"}}, "required": ["kind", "r"]}, {"type": "object", "properties": {"kind": {"const": "square"}, "side": ` +
		`{"type": "number"}}, "required": ["kind", "side"]}]}`
	tests := []struct {
		name, schema, value string
		want                []string
	}{
		{"valid", search, `{"customer_id": "c", "limit": 1}`, nil},
		{"all at once", search, `{"custommer_id": "c", "limit": "ten"}`, []string{
			`customer_id is required`,
			`custommer_id is not a known property (did you mean customer_id?)`,
			`limit must be an integer, not "ten"`}},
		{"other style", search, `{"customerId": "c", "customer_id": "c"}`, []string{`customerId is not a known property ` +
			`(other properties: limit, recursive)`}},
		{"other style, missing", search, `{"customerId": "c"}`, []string{
			`customerId is not a known property (did you mean customer_id?)`,
			`customer_id is required`}},
		{"required under another name", `{"properties": {"path": {}}, "required": ["path"]}`, `{"paht": 1}`,
			[]string{`path is required (did you call it paht?)`}},
		{"malformed", search, `{"customer_id": `, []string{`the value is not valid JSON: unexpected end of JSON input ` +
			`(byte 16)`}},
		{"empty", search, ``, []string{`the value is not valid JSON: unexpected end of JSON input (byte 0)`}},
		{"trailing", search, `{} x`, []string{`the value is not valid JSON: invalid character 'x' after top-level value ` +
			`(byte 4)`}},
		{"twice", search, `{"customer_id": "a", "customer_id": 1}`, []string{
			`customer_id is given twice`,
			`customer_id must be a string, not 1`}},
		{"deep", `true`, strings.Repeat("[", 1001) + strings.Repeat("]", 1001), []string{`the value is nested deeper ` +
			`than 1000`}},
		{"less deep", `true`, strings.Repeat("[", 1000) + strings.Repeat("]", 1000), nil},
		{"number out of range", `{"minimum": 1}`, `1e999999999`, []string{
			`the value contains the number 1e999999999, which is out of range`}},
		{"whole value", search, `[]`, []string{`the value must be an object, not an array`}},
		{"enum", `{"properties": {"mood": {"enum": ["good", "bad"]}}}`, `{"mood": "great"}`,
			[]string{`mood must be one of "good", "bad", not "great"`}},
		{"enum, near", `{"enum": ["ascending", "descending"]}`, `"ascnding"`, []string{`the value must be one of ` +
			`"ascending", "descending", not "ascnding" (did you mean "ascending"?)`}},
		{"const", `{"const": {"a": 1}}`, `2`, []string{`the value must be {"a":1}, not 2`}},
		{"long values are cut", `{"type": "integer"}`, `"` + strings.Repeat("x", 100) + `"`,
			[]string{`the value must be an integer, not "` + strings.Repeat("x", 60) + `…"`}},
		{"paths", `{"additionalProperties": {"items": {"properties": {"name": {"type": "string"}}}}}`,
			`{"odd name": [{"name": 1}], "items": [{}, {"name": null}]}`, []string{
				`items[1].name must be a string, not null`,
				`["odd name"][0].name must be a string, not 1`}},
		{"numeric names and indexes", `{"additionalProperties": {"type": "null"}}`, `{"10": 1, "2": 1}`, []string{
			`["2"] must be null, not 1`, `["10"] must be null, not 1`}},
		{"exact integers", `{"maximum": 9007199254740993}`, `9007199254740994`, []string{`the value must be at most ` +
			`9007199254740993, not 9007199254740994`}},
		{"exact constants", `{"const": 9007199254740993}`, `9007199254740992`, []string{`the value must be 9007199254740` +
			`993, not 9007199254740992`}},
		{"ranges", `{"items": {"minimum": 1, "exclusiveMaximum": 2.5, "multipleOf": 0.5}}`, `[0, 2.5, 1.2]`, []string{
			`[0] must be at least 1, not 0`, `[1] must be less than 2.5, not 2.5`, `[2] must be a multiple of 0.5, not 1.2`}},
		{"lengths", `{"items": {"minLength": 2, "maxLength": 3}}`, `["", "four"]`, []string{
			`[0] must have at least 2 characters, not 0`, `[1] must have at most 3 characters, not 4`}},
		{"sizes", `{"minItems": 3, "uniqueItems": true}`, `[1, 1]`, []string{
			`the value must have at least 3 items, not 2`, `the value must not repeat an item: [0] and [1] are equal`}},
		{"properties", `{"minProperties": 2}`, `{"a": 1}`, []string{`the value must have at least 2 properties, not 1`}},
		{"pattern", `{"pattern": "^(?!x)\\d+$"}`, `"x1"`, []string{`the value must match /^(?!x)\d+$/, not "x1"`}},
		{"formats are not checked", `{"$schema": "http://json-schema.org/draft-07/schema#", "format": "date-time"}`,
			`"2026-01-31T15:04:05"`, nil},
		{"names", `{"items": {"propertyNames": {"pattern": "^[a-z]$"}}}`, `[{"a": 1}, {"B": 1}, {"c": 1}]`,
			[]string{`[1].B is not an allowed name`}},
		{"types", `{"type": ["string", "null"]}`, `1`, []string{`the value must be null or a string, not 1`}},
		{"union of kinds", `{"anyOf": [{"type": "string"}, {"type": "integer"}, {"const": false}]}`, `true`,
			[]string{`the value must be false, not true`}},
		{"union of types", `{"anyOf": [{"type": "string"}, {"type": "integer"}]}`, `true`,
			[]string{`the value must be a string or an integer, not true`}},
		{"nullable", `{"anyOf": [` + search + `, {"type": "null"}]}`, `{"customer_id": 1}`,
			[]string{`customer_id must be a string, not 1`}},
		{"nullable, other kind", `{"anyOf": [` + search + `, {"type": "null"}]}`, `"x"`,
			[]string{`the value must be an object or null, not "x"`}},
		{"tagged union", shape, `{"kind": "square", "r": 1}`, []string{`side is required`}},
		{"tagged union, unknown tag", shape, `{"kind": "cicle", "r": 1}`, []string{`kind must be one of "circle", ` +
			`"square", not "cicle" (did you mean "circle"?)`}},
		{"nearest alternative", `{"anyOf": [{"required": ["a", "b"]}, {"required": ["c"]}]}`, `{}`,
			[]string{`the value fits none of its 2 alternatives (nearest alternative: c is required)`}},
		{"two alternatives", `{"oneOf": [{"type": "number"}, {"type": "integer"}]}`, `1`,
			[]string{`the value must match exactly one alternative, but matches numbers 1 and 2`}},
		{"said twice", `{"allOf": [{"type": "string"}, {"type": "string"}]}`, `1`,
			[]string{`the value must be a string, not 1`}},
		{"not", `{"not": {"type": "string"}}`, `"x"`, []string{`the value must not fit the schema under "not"`}},
		{"condition", `{"if": {"required": ["a"]}, "then": {"required": ["b"]}}`, `{"a": 1}`, []string{`b is required`}},
		{"dependent", `{"dependentRequired": {"card": ["address"]}}`, `{"card": 1}`,
			[]string{`address is required with card`}},
		{"contains", `{"contains": {"type": "string"}}`, `[1]`, []string{`the value must have an item that fits ` +
			`the schema under "contains"`}},
		{"tuple", `{"prefixItems": [{"type": "string"}], "items": false}`, `[1, 2]`, []string{`[0] must be a string, not 1`,
			`[1] is not allowed`}},
		{"unevaluated", `{"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false}`, `{"a": 1, "b": 2}`,
			[]string{`b is not a known property`}},
		{"reference", `{"properties": {"next": {"$ref": "#"}, "v": {"type": "integer"}}}`, `{"next": {"next": {"v": "x"}}}`,
			[]string{`next.next.v must be an integer, not "x"`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			checkLines(t, compile(t, test.schema).Validate([]byte(test.value)), test.want)
		})
	}
}

func TestValidatePartial(t *testing.T) {
	t.Parallel()
	const list = `{"type": "object", "properties": {"id": {"type": "string"}, "limit": {"type": "integer"}, "tags": ` +
		`{"type": "array", "items": {"type": "string"}, "minItems": 2}, "mode": {"enum": ["a", "b"]}}, "required": ` +
		`["id"], "minProperties": 3, "additionalProperties": false}`
	tests := []struct {
		name, schema, value string
		unknown             []string
		want                []string
	}{
		{"all known", list, `{"id": 1, "limit": 1, "mode": "a"}`, nil, []string{`id must be a string, not 1`}},
		{"nothing known", list, `null`, []string{""}, nil},
		{"at a path", list, `{"id": null, "limit": "x", "mode": "a"}`, []string{"/id"},
			[]string{`limit must be an integer, not "x"`}},
		{"missing next to it", list, `{"limit": null, "mode": null, "tags": null}`, []string{"/limit", "/mode", "/tags"},
			[]string{`id is required`}},
		{"misspelt, value unknown", list, `{"idd": null, "limit": 1, "mode": "a"}`, []string{"/idd"}, []string{
			`id is required`, `idd is not a known property (did you mean id?)`}},
		{"spread", list, `{"limitt": 1}`, []string{"/..."}, []string{`limitt is not a known property (did you mean limit?)`}},
		{"spread array", list, `{"id": "x", "tags": [1], "mode": "c"}`, []string{"/tags/..."},
			[]string{`mode must be one of "a", "b", not "c"`}},
		{"item", list, `{"id": "x", "tags": [1, null], "limit": 1}`, []string{"/tags/1"},
			[]string{`tags[0] must be a string, not 1`}},
		{"kind of a literal", `{"type": "string"}`, `{"a": null}`, []string{"/a"},
			[]string{`the value must be a string, not an object`}},
		{"constant above", `{"enum": [{"a": 1}, {"a": 2}]}`, `{"a": null}`, []string{"/a"}, nil},
		{"negation", `{"not": {"required": ["a"]}}`, `{"a": null}`, []string{"/a"}, nil},
		{"alternative that may fit", `{"anyOf": [{"type": "object", "properties": {"a": {"type": "integer"}}}, {"type": ` +
			`"string"}]}`, `{"a": null}`, []string{"/a"}, nil},
		{"no alternative can fit", `{"anyOf": [{"type": "object", "properties": {"a": {"type": "integer"}}, ` +
			`"additionalProperties": false}, {"type": "null"}]}`, `{"a": null, "bb": 1}`, []string{"/a"},
			[]string{`bb is not a known property`}},
		{"condition", `{"properties": {"kind": {}}, "if": {"properties": {"kind": {"const": "x"}}}, "then": ` +
			`{"required": ["b"]}, "else": {"required": ["c"]}}`, `{"kind": null}`, []string{"/kind"}, nil},
		{"condition through a reference", `{"if": {"properties": {"kind": {"const": "x"}}}, "else": {"$ref": ` +
			`"#/$defs/c"}, "$defs": {"c": {"required": ["c"]}}}`, `{"kind": null}`, []string{"/kind"}, nil},
		{"two alternatives", `{"oneOf": [{"properties": {"a": {"type": "null"}}}, {"required": ["a"]}]}`, `{"a": null}`,
			[]string{"/a"}, nil},
		{"duplicates", `{"uniqueItems": true}`, `[null, null]`, []string{"/0", "/1"}, nil},
		{"contains", `{"contains": {"type": "string"}}`, `[null]`, []string{"/0"}, nil},
		{"dependent", `{"dependentRequired": {"a": ["b"]}}`, `{"a": null}`, []string{"/a"}, nil},
		{"unevaluated", `{"anyOf": [{"properties": {"a": {"type": "string"}, "b": {}}}, {}], "unevaluatedProperties": ` +
			`false}`, `{"a": null, "b": 1}`, []string{"/a"}, nil},
		{"a property called then", `{"properties": {"then": {"type": "integer"}, "a": {}}}`, `{"then": "x", "a": null}`,
			[]string{"/a"}, []string{`then must be an integer, not "x"`}},
		{"escaped pointer", `{"additionalProperties": {"type": "string"}}`, `{"a/b~c": null, "d": 1}`, []string{"/a~1b~0c"},
			[]string{`d must be a string, not 1`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			checkLines(t, compile(t, test.schema).ValidatePartial([]byte(test.value), test.unknown), test.want)
		})
	}
}

// TestAlwaysTheSame checks that findings do not depend on the random order of maps.
func TestAlwaysTheSame(t *testing.T) {
	t.Parallel()
	members := func(n int, format string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(format, i))
		}
		return strings.Join(all, ",")
	}
	options := members(450, `"option%d":{}`)
	for _, test := range []struct {
		name, schema, value string
		want                []string
	}{
		{"what alternatives have in common", `{"anyOf": [
			{"properties": {"a": {"type": "integer"}, "kind": {"const": "x"}, "z": {"type": "integer"}}},
			{"properties": {"a": {"type": "integer"}, "kind": {"const": "y"}, "z": {"type": "integer"}}}]}`,
			`{"a": "1", "z": "1", "kind": "w"}`, []string{
				`kind must be one of "x", "y", not "w"`}},
		{"which names are compared", `{"properties": {` + options + `}, "additionalProperties": false}`,
			`{"optionAx": 1, "optionBx": 1, "optionCx": 1, "optionDx": 1, "optionEx": 1, "optionFx": 1}`, []string{
				`optionAx is not a known property (did you mean option0?)`,
				`optionBx is not a known property (did you mean option0?)`,
				`optionCx is not a known property (did you mean option0?)`,
				`optionDx is not a known property (did you mean option0?)`,
				`optionEx is not a known property`,
				`optionFx is not a known property`}},
		{"a limited number of findings", `{"propertyNames": {"maxLength": 2}}`, "{" + members(30, `"n%02d":1`) + "}", nil},
	} {
		s := compile(t, test.schema)
		for range 30 {
			got := lines(s.Validate([]byte(test.value)))
			if test.want == nil {
				test.want = got
			}
			if !slices.Equal(got, test.want) {
				t.Fatalf("%s: got %q\nwant %q", test.name, got, test.want)
			}
		}
	}
	for range 30 {
		_, err := schema.Compile([]byte(`{"properties": {"a": {"$ref": "#/properties/a"}, "b": {"$ref": ` +
			`"#/properties/b"}, "c": {"$ref": "#/properties/c"}}}`))
		if want := `schema: the reference at "#/properties/c" is circular`; err == nil || err.Error() != want {
			t.Fatalf("got %v, want %s", err, want)
		}
	}
}
