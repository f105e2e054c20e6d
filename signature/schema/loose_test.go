package schema_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/signature/schema"
)

// What is met in the wild: what is told of it, a value that fits what is left,
// and one that does not, with all that is said of it.
func TestLoose(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, schema string
		dropped      []string
		good, bad    string
		want         []string
	}{
		{"a type that is none", `{"properties":{"n":{"type":"int"},"s":{"type":"string"}},"required":["n"]}`,
			[]string{`properties.n.type must be one or several of "array", "boolean", "integer", "null", "number", "object", "string", not "int"`},
			`{"n":"anything"}`, `{"s":1}`, []string{`n is required`, `s must be a string, not 1`}},
		{"one type of several is none", `{"properties":{"a":{"type":["string","float"]},"b":{"type":["string","string"]}}}`,
			[]string{`properties.a.type must be one or several of "array", "boolean", "integer", "null", "number", "object", "string", not an array`},
			`{"a":1.5,"b":"x"}`, `{"b":1}`, []string{`b must be a string, not 1`}},
		{"required on a property", `{"properties":{"a":{"type":"string","required":true},"b":{"type":"integer"}}}`,
			[]string{`properties.a.required must be a list of strings, not true`},
			`{}`, `{"a":1,"b":"x"}`, []string{`a must be a string, not 1`, `b must be an integer, not "x"`}},
		{"names required twice", `{"required":["a","a"]}`, nil, `{"a":1}`, `{}`, []string{`a is required`}},
		{"enums", `{"properties":{"empty":{"enum":[]},"text":{"enum":"a,b"},"twice":{"enum":["a","a","b"]}}}`,
			[]string{`properties.empty.enum must be a list of at least one value, not an array`, `properties.text.enum must be a list of at least one value, not "a,b"`},
			`{"empty":1,"text":"c","twice":"b"}`, `{"twice":"c"}`, []string{`twice must be one of "a", "a", "b", not "c"`}},
		{"numbers", `{"properties":{"a":{"minLength":-1,"maxLength":3},"b":{"minimum":"1","maximum":5},"c":{"multipleOf":0,"type":"integer"}}}`,
			[]string{`properties.a.minLength must be a whole number, 0 or more, not -1`, `properties.b.minimum must be a number, not "1"`, `properties.c.multipleOf must be a number above 0, not 0`},
			`{"a":"","b":0,"c":7}`, `{"a":"long","b":6,"c":1.5}`, []string{`a must have at most 3 characters, not 4`, `b must be at most 5, not 6`, `c must be an integer, not 1.5`}},
		{"empty object from PHP", `{"properties":[],"required":[],"additionalProperties":false}`, nil, `{}`, `{"a":1}`, []string{`a is not a known property`}},
		{"properties that are a list", `{"properties":["a"],"required":["b"],"additionalProperties":false}`,
			[]string{`properties must be an object of schemas, not an array`}, `{"a":1,"b":1}`, `{"a":1}`, []string{`b is required`}},
		{"a property that is no schema", `{"properties":{"a":"string","b":null,"c":{"type":"string"}},"additionalProperties":false}`,
			[]string{`properties.a must be a schema, not "string"`}, `{"a":1,"b":2}`, `{"c":1,"d":1}`, []string{`c must be a string, not 1`, `d is not a known property (others known: a, b)`}},
		{"keywords that are null", `{"type":null,"properties":{"a":{"type":"string","enum":null,"items":null,"minLength":null,"default":null}},"required":null,"$ref":null}`,
			nil, `{}`, `{"a":1}`, []string{`a must be a string, not 1`}},
		{"pattern of Python", `{"properties":{"a":{"pattern":"(?P<x>a)\\z","maxLength":2},"b":{"pattern":"^(?!x)(?<n>\\p{L})\\d$"}}}`,
			[]string{`properties.a.pattern is not a regular expression that can be used: "(?P<x>a)\\z"`},
			`{"a":"b","b":"é1"}`, `{"a":"abc","b":"x1"}`, []string{`a must have at most 2 characters, not 3`, `b must match /^(?!x)(?<n>\p{L})\d$/, not "x1"`}},
		{"pattern of a name", `{"patternProperties":{"(":{"type":"string"},"^b":{"type":"integer"}},"additionalProperties":false}`,
			[]string{`patternProperties["("] is not a regular expression that can be used`}, `{"a":1}`, `{"b":"x"}`, []string{`b must be an integer, not "x"`}},
		{"format", `{"properties":{"a":{"format":"uuid4"},"b":{"format":7,"type":"string"}}}`,
			[]string{`properties.b.format must be a string, not 7`}, `{"a":"x"}`, `{"b":1}`, []string{`b must be a string, not 1`}},
		{"unknown dialect", `{"$schema":"https://example.com/meta","properties":{"a":{"type":"string"}}}`,
			[]string{`$schema is no draft that is known: "https://example.com/meta"`}, `{}`, `{"a":1}`, []string{`a must be a string, not 1`}},
		{"dialect that is no text", `{"$schema":7,"properties":{"a":{"$schema":"x","type":"string"}}}`,
			[]string{`$schema is no draft that is known: 7`}, `{}`, `{"a":1}`, []string{`a must be a string, not 1`}},
		{"draft 4 in the latest", `{"properties":{"a":{"minimum":1,"exclusiveMinimum":true},"b":{"maximum":9,"exclusiveMaximum":false}}}`,
			nil, `{"a":2,"b":9}`, `{"a":1,"b":10}`, []string{`a must be more than 1, not 1`, `b must be at most 9, not 10`}},
		{"the latest in draft 4", `{"$schema":"http://json-schema.org/draft-04/schema#","id":"x","required":[],"properties":{"a":{"exclusiveMinimum":1},"b":{"const":2},"c":true,"id":{"type":"string"}},"additionalProperties":false}`,
			nil, `{"a":2,"b":2,"c":3,"id":"y"}`, `{"a":1,"b":1,"id":1}`, []string{`a must be more than 1, not 1`, `b must be 2, not 1`, `id must be a string, not 1`}},
		{"tuple of draft 7", `{"properties":{"a":{"items":[{"type":"string"},{"type":"integer"}],"additionalItems":false},"b":{"$ref":"#/properties/a/items/1"}}}`,
			nil, `{"a":["x",1],"b":1}`, `{"a":[1,2,3],"b":"x"}`, []string{`a[0] must be a string, not 1`, `a[2] is not allowed`, `b must be an integer, not "x"`}},
		{"dependencies", `{"dependencies":{"a":["b"],"c":{"required":["d"]}}}`, nil, `{}`, `{"a":1,"c":1}`, []string{`b is required with a`, `d is required`}},
		{"nullable", `{"properties":{"a":{"type":"string","nullable":true},"b":{"type":"string","enum":["x"],"nullable":true}}}`,
			nil, `{"a":null,"b":null}`, `{"a":1,"b":"y"}`, []string{`a must be null or a string, not 1`, `b must be one of "x", null, not "y"`}},
		{"reference beside others in draft 7", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/s","minLength":5}},"definitions":{"s":{"type":"string"}}}`,
			nil, `{"a":"x"}`, `{"a":1}`, []string{`a must be a string, not 1`}},
		{"escaped references", `{"properties":{"x":{"$ref":"#/$defs/a~1b"},"y":{"$ref":"#/$defs/c%25d"},"z":{"$ref":"#/$defs/e%20f"}},"$defs":{"a/b":{"type":"string"},"c%d":{"type":"integer"},"e f":{"type":"boolean"}}}`,
			nil, `{"x":"","y":1,"z":true}`, `{"x":1,"y":"","z":0}`, []string{`x must be a string, not 1`, `y must be an integer, not ""`, `z must be a boolean, not 0`}},
		{"identifiers of TypeBox", `{"$id":"https://x.test/s.json","properties":{"n":{"$id":"T0","type":"object","properties":{"kids":{"items":{"$ref":"T0"},"type":"array"}}}}}`,
			nil, `{"n":{"kids":[{"kids":[]}]}}`, `{"n":{"kids":[{"kids":1}]}}`, []string{`n.kids[0].kids must be an array, not 1`}},
		{"identifiers given twice", `{"properties":{"a":{"$id":"T","type":"string"},"b":{"$id":"T","type":"string"},"c":{"$ref":"T"}}}`, nil, `{}`, `{"c":1}`, []string{`c must be a string, not 1`}},
		{"anchors", `{"properties":{"a":{"$ref":"#it"},"b":{"$ref":"#old"}},"$defs":{"x":{"$anchor":"it","type":"string"},"y":{"$id":"#old","type":"integer"}}}`,
			nil, `{}`, `{"a":1,"b":"x"}`, []string{`a must be a string, not 1`, `b must be an integer, not "x"`}},
		{"dynamic reference", `{"$dynamicAnchor":"n","properties":{"v":{"type":"integer"},"next":{"$dynamicRef":"#n"}}}`, nil, `{}`, `{"next":{"v":"x"}}`, []string{`next.v must be an integer, not "x"`}},
		{"recursive reference of 2019", `{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"properties":{"v":{"type":"integer"},"next":{"$recursiveRef":"#"}}}`, nil, `{}`, `{"next":{"v":"x"}}`, []string{`next.v must be an integer, not "x"`}},
		{"remote references", `{"properties":{"a":{"$ref":"https://example.com/a.json#/x"},"b":{"$ref":"file:///etc/passwd"},"c":{"$ref":"other.json"},"d":{"type":"string"}}}`,
			[]string{`properties.a.$ref refers to "https://example.com/a.json#/x", which is not loaded`, `properties.b.$ref refers to "file:///etc/passwd", which is not loaded`, `properties.c.$ref refers to "other.json", which is not loaded`},
			`{"a":1,"b":2,"c":3}`, `{"d":1}`, []string{`d must be a string, not 1`}},
		{"dangling references", `{"properties":{"a":{"$ref":"#/$defs/no","type":"string"},"b":{"$ref":"#no"},"c":{"$ref":7},"d":{"$ref":"%zz#%zz"}}}`,
			[]string{`properties.a.$ref refers to "#/$defs/no", which is not there`, `properties.b.$ref refers to "#no", which is not there`, `properties.c.$ref must be a string, not 7`, `properties.d.$ref is not a reference: "%zz#%zz"`},
			`{"a":"x","b":1}`, `{"a":1}`, []string{`a must be a string, not 1`}},
		{"reference outside of definitions", `{"properties":{"a":{"$ref":"#/components/schemas/A"}},"components":{"schemas":{"A":{"type":"str","maxLength":1}}}}`,
			[]string{`components.schemas.A.type must be one or several of "array", "boolean", "integer", "null", "number", "object", "string", not "str"`},
			`{"a":1}`, `{"a":"xy"}`, []string{`a must have at most 1 character, not 2`}},
		{"endless references", `{"$ref":"#","properties":{"a":{"allOf":[{"$ref":"#/$defs/b"}]}},"$defs":{"b":{"$ref":"#/properties/a","type":"string"}}}`,
			[]string{`$ref refers to itself without end`, `properties.a.allOf[0].$ref refers to itself without end`},
			`{"a":1}`, ``, nil},
		{"recursion", `{"$ref":"#/$defs/t","$defs":{"t":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/t"}}}}}}`,
			nil, `{"kids":[{"kids":[]}]}`, `{"kids":[{"kids":[1]}]}`, []string{`kids[0].kids[0] must be an object, not 1`}},
		{"root with oneOf of required only", `{"type":"object","properties":{"a":{},"b":{}},"oneOf":[{"required":["a"]},{"required":["b"]}]}`,
			nil, `{"a":1}`, `{}`, []string{`the value fits none of its 2 alternatives (for the nearest, a is required)`}},
		{"inside of not", `{"properties":{"a":{"not":{"type":"int"}},"b":{"not":{"type":"string"}}}}`,
			[]string{`properties.a.not.type must be one or several of "array", "boolean", "integer", "null", "number", "object", "string", not "int"`},
			`{"a":1}`, `{"b":"x"}`, []string{`b has a form that is not allowed`}},
		{"inside of not, by reference", `{"properties":{"a":{"not":{"anyOf":[{"$ref":"#/$defs/d"}]}},"b":{"$ref":"#/properties/a/not/anyOf/0"},"c":{"type":"string"}},"$defs":{"d":{"enum":[]}}}`,
			[]string{`$defs.d.enum must be a list of at least one value, not an array`, `properties.b.$ref refers to what had to be dropped`},
			`{"a":1,"b":1}`, `{"c":1}`, []string{`c must be a string, not 1`}},
		{"inside of oneOf", `{"oneOf":[{"type":"str"},{"type":"integer"}],"properties":{"x":{"$ref":"#/oneOf/1"}}}`,
			[]string{`oneOf[0].type must be one or several of "array", "boolean", "integer", "null", "number", "object", "string", not "str"`},
			`1`, `{"x":"y"}`, []string{`x must be an integer, not "y"`}},
		{"inside of if", `{"if":{"properties":{"a":{"enum":"x"}}},"then":{"required":["b"]},"required":["c"]}`,
			[]string{`if.properties.a.enum must be a list of at least one value, not "x"`}, `{"c":1}`, `{}`, []string{`c is required`}},
		{"a list with what is no schema", `{"anyOf":[{"type":"string"},"integer"],"maxLength":1}`,
			[]string{`anyOf[1] must be a schema, not "integer"`}, `1`, `"xy"`, []string{`the value must have at most 1 character, not 2`}},
		{"unevaluated", `{"allOf":[{"properties":7}],"unevaluatedProperties":false,"required":["a"]}`,
			[]string{`allOf[0].properties must be an object of schemas, not 7`}, `{"a":1}`, `{}`, []string{`a is required`}},
		{"names like keywords", `{"type":"object","properties":{"$ref":{"type":"string"},"type":{"type":"integer"},"properties":{"type":"object"},"required":{"type":"boolean"},"$id":{"enum":["x"]}},"required":["$ref"]}`,
			nil, `{"$ref":"x","type":1,"properties":{},"required":true,"$id":"x"}`, `{"type":"x"}`, []string{`$ref is required`, `type must be an integer, not "x"`}},
		{"annotations of the wrong form", `{"description":5,"title":{},"examples":"x","deprecated":"yes","properties":{"a":{"type":"string"}}}`,
			[]string{`deprecated must be true or false, not "yes"`, `description must be a string, not 5`, `examples must be a list, not "x"`, `title must be a string, not an object`},
			`{}`, `{"a":1}`, []string{`a must be a string, not 1`}},
		{"no schema at all", `[1]`, []string{`the schema must be an object or a boolean, not an array`}, `1`, ``, nil},
		{"false", `false`, nil, ``, `{}`, []string{`the value is not allowed`}},
		{"a repeated definition", `{"properties":{"a":{"$ref":"#/$defs/o"},"b":{"$ref":"#/$defs/o"}},"$defs":{"o":{"type":"object","required":["x"]}}}`,
			nil, `{"a":{"x":1}}`, `{"a":{},"b":{}}`, []string{`a.x is required`, `b.x is required`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			loose := schema.Loosely([]byte(test.schema))
			if got := loose.Dropped(); !slices.Equal(got, test.dropped) {
				t.Errorf("dropped\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(test.dropped, "\n\t"))
			}
			s, err := loose.Schema()
			if err != nil {
				t.Fatal(err)
			}
			if test.good != "" {
				checkLines(t, s.Validate([]byte(test.good)), nil)
			}
			if test.bad != "" {
				checkLines(t, s.Validate([]byte(test.bad)), test.want)
			}
		})
	}
}

// Whatever is wrong with a schema, what is left of it compiles, and refuses
// nothing that the schema admits, if that compiles as it is.
func FuzzLoose(f *testing.F) {
	for _, s := range append(schemaSeeds, `{"items":[{"type":"int"}],"oneOf":[{"$ref":"#/items/0"}],"not":{"$id":"a","$ref":"#b"}}`) {
		f.Add([]byte(s), []byte(`{"a": 1, "b": ["x", null]}`))
	}
	f.Fuzz(func(t *testing.T, raw, value []byte) {
		loose := schema.Loosely(raw)
		s, err := loose.Schema()
		switch {
		case loose.Err() != nil && err == nil:
			t.Error("the error is forgotten")
		case loose.Err() == nil && err != nil && !strings.Contains(err.Error(), "combines too many schemas for one value"):
			t.Fatalf("%s: %v\ndropped %q", raw, err, loose.Dropped())
		}
		if s == nil {
			return
		}
		s.TypeScript(nil)
		strict, err := schema.Compile(raw)
		if err != nil || otherwise.Match(raw) || len(strict.Validate(value)) > 0 {
			return
		}
		if findings := s.Validate(value); findings != nil {
			t.Errorf("%s admits %s, but loosely not: %q", raw, value, findings)
		}
	})
}

// otherwise finds what is read in another way than by the strict compiler.
var otherwise = regexp.MustCompile(`\\u|"(\$schema|\$vocabulary|\$id|\$anchor|\$dynamic.*|\$recursive.*|dependencies|definitions)"`)
