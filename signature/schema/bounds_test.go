package schema_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/writ-go/writ/signature/schema"
)

// filters is a schema like those of search tools: a tree of and, or, not.
const filters = `{"$ref": "#/$defs/f", "$defs": {"f": {"anyOf": [
	{"type": "object", "properties": {"op": {"const": "and"}, "args": {"type": "array", "items": {"$ref": "#/$defs/f"}}},
		"required": ["op", "args"]},
	{"type": "object", "properties": {"op": {"const": "or"}, "args": {"type": "array", "items": {"$ref": "#/$defs/f"}}},
		"required": ["op", "args"]},
	{"type": "object", "properties": {"op": {"const": "not"}, "arg": {"$ref": "#/$defs/f"}}, "required": ["op", "arg"]},
	{"type": "object", "properties": {"op": {"enum": ["eq", "ne"]}, "field": {"type": "string"}, "value": {}},
		"required": ["op", "field", "value"]},
	{"type": "string"}]}}}`

// nested puts a value into filters.
func nested(deep int, op, inside string) string {
	return strings.Repeat(`{"op": "`+op+`", "args": ["x", `, deep) + inside + strings.Repeat(`]}`, deep)
}

// gaveUp matches the findings of a value that takes too many steps. On a slow machine,
// the time for patterns may end first. Since members are checked in random order, the
// check may also find early that the value does not fit, though not where.
var gaveUp = regexp.MustCompile("is too complex to be checked|takes too long on this value|is too large and too " +
	"deeply nested to say where")

func TestAlternativesAreBounded(t *testing.T) {
	t.Parallel()
	const tuple = `{"oneOf": [{"type": "string"}, {"items": {"$ref": "#"}, "type": "array"}, {"items": {"$ref": ` +
		`"#"}, "type": "array", "minItems": 2}]}`
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	tests := []struct {
		name, schema, value string
		ok                  bool
	}{
		{"filters", filters, nested(3, "or", `"y"`), true},
		{"filters, six deep", filters, nested(6, "or", `"y"`), true},
		{"filters, eight deep", filters, nested(8, "or", `{"op": "eq", "field": "a", "value": [[[[[1]]]]]}`), true},
		{"filters, fourteen deep", filters, nested(14, "or", `1`), false},
		{"filters, a hundred deep", filters, nested(100, "or", `1`), false},
		{"filters, deep and wide", filters, nested(8, "or", `"y"`+strings.Repeat(`, "y"`, 100_000)), false},
		{"filters, wide", filters, nested(2, "or", `"y"`+strings.Repeat(`, {"op": "eq", "field": "a", "value": 1}`,
			10_000)), true},
		{"oneOf", tuple, deep(8), true},
		{"oneOf, deep", tuple, deep(40), false},
		{"items and contains", `{"items": {"$ref": "#"}, "contains": {"$ref": "#"}}`, deep(60), false},
		{"two patterns", `{"patternProperties": {"a": {"$ref": "#"}, "^.$": {"$ref": "#"}}, "type": "object"}`,
			strings.Repeat(
				`{"a":`, 60) + "{}" + strings.Repeat("}", 60), false},
		{"not", `{"not": {"allOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}, {"items": {"type": "array"}}]}}`,
			deep(60), false},
		{"alternatives, no recursion", `{"items": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": ` +
			`"boolean"}]}}`, "[true" + strings.Repeat(", true", 100_000) + "]", true},
		{"recursion, no alternatives", `{"properties": {"next": {"$ref": "#"}}}`, strings.Repeat(`{"next": `,
			900) + "{}" + strings.Repeat(
			"}", 900), true},
		{"dynamic", `{"$dynamicAnchor": "n", "anyOf": [{"items": {"$dynamicRef": "#n"}, "minItems": 1}, {"items": ` +
			`{"$dynamicRef": "#n"}, "minItems": 2}]}`, deep(60), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if !test.ok && test.name != "filters, fourteen deep" {
				skipSlow(t)
			}
			s := compile(t, test.schema)
			var found []schema.Finding
			found = s.Validate([]byte(test.value))
			if (len(found) == 0) != test.ok {
				t.Errorf("got %q", clip(lines(found)))
			}
			if test.ok {
				return
			}
			if len(found) != 1 || !gaveUp.MatchString(found[0].Message) {
				t.Errorf("got %q", clip(lines(found)))
			}
			found = s.ValidatePartial([]byte(test.value), []string{"/nowhere"})
			if found != nil {
				t.Errorf("partial: got %q", clip(lines(found)))
			}
		})
	}
}

func clip(all []string) string {
	text := strings.Join(all, "\n")
	return text[:min(len(text), 2000)]
}

func TestExplanationIsBounded(t *testing.T) {
	skipSlow(t)
	t.Parallel()
	members := func(n int, format string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(format, i)
		}
		return strings.Join(all, ", ")
	}
	closed := func(n int) string {
		return `{"type": "object", "properties": {` + members(n,
			`"some_rather_long_property_%d": {"type": "string"}`) + `}, "additionalProperties": false}`
	}
	enum := `{"additionalProperties": {"enum": [` + members(4900, `"some_rather_long_value_%d"`) + `]}}`
	var unknown []string // unknown places outside the path
	for i := range 3500 {
		unknown = append(unknown, fmt.Sprintf("/some_rather_lung_property_%dx/a", i), fmt.Sprintf("/z%d/...", i))
	}
	tests := []struct {
		name, schema, value string
		last                string
	}{
		{"unknown properties", closed(60), "{" + members(3500, `"some_rather_lung_property_%dx": 1`) + "}",
			"the value has 3480 more problems"},
		{"many known", closed(1600), "{" + members(3500, `"some_rather_lung_property_%dx": 1`) + "}",
			"the value has 3480 more problems"},
		{"long names", closed(1600), "{" + members(3500, `"`+strings.Repeat("some_rather_lung", 6)+`_%d": 1`) + "}",
			"the value has 3480 more problems"},
		{"nullable", `{"anyOf": [` + closed(1600) + `, {"type": "null"}]}`, "{" + members(3500,
			`"some_rather_lung_property_%dx": 1`) + "}", "the value has 3480 more problems"},
		{"wrong types", closed(1600), "{" + members(1600, `"some_rather_long_property_%d": 1`) + "}",
			"the value has 1580 more problems"},
		{"missing", `{"required": [` + members(3500, `"some_rather_long_property_%d"`) + `]}`, "{" + members(3500,
			`"some_rather_lung_property_%dx": 1`) + "}", "the value has 3480 more problems"},
		{"enum", enum, "{" + members(3500, `"key_%d": "some_rather_lung_value"`) + "}", "the value has 3480 more problems"},
		{"union of enums", `{"items": {"anyOf": [` + members(100, `{"properties": {"a": {"enum": `+
			`["some_rather_long_value_%[1]d", "another_value_%[1]d"]}}}`) + `]}}`, "[" + members(500,
			`{"a": "some_other_value_%d"}`) + "]", "the value has 480 more problems"},
		{"given twice", `true`, `{"a": 0` + strings.Repeat(`, "a": 0`, 5000) + "}", "a is given twice"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := compile(t, test.schema)
			var found []schema.Finding
			found = s.Validate([]byte(test.value))
			all := lines(found)
			if len(all) == 0 || len(all) > 21 || all[len(all)-1] != test.last {
				t.Errorf("got %d: %q", len(all), clip(all[max(0, len(all)-2):]))
			}
			var more int
			_, _ = fmt.Sscanf(test.last, "the value has %d", &more) // 0 if all problems are listed
			if summary := schema.Summary(found); len(found) > 10 && !strings.HasSuffix(summary, fmt.Sprintf("; and %d more",
				more+10)) {
				t.Errorf("got summary %q", summary[max(0, len(summary)-100):])
			}
			found = s.ValidatePartial([]byte(test.value), unknown)
			if len(found) > 21 {
				t.Errorf("partial: got %d", len(found))
			}
			again := lines(s.Validate([]byte(test.value)))
			if clip(all) != clip(again) {
				t.Errorf("the order is not stable:\n%s\n\n%s", clip(all), clip(again))
			}
		})
	}
}

// TestLargeAndDeep has errors whose paths alone would take gigabytes.
func TestLargeAndDeep(t *testing.T) {
	skipSlow(t)
	t.Parallel()
	const arrays = `{"items": {"$ref": "#"}, "type": ["array", "string"]}`
	value := func(item string) []byte {
		return []byte(strings.Repeat("[", 900) + item + strings.Repeat(", "+item, 100_000) + strings.Repeat("]", 900))
	}
	s := compile(t, arrays)
	checkLines(t, s.Validate(value(`"x"`)), nil)
	checkLines(t, s.Validate(value(`1`)), []string{"the value does not fit its schema, but is too large and too " +
		"deeply nested to say where"})
	checkLines(t, s.ValidatePartial(value(`null`), []string{"/0"}), nil)
}

// TestLongEnum checks enums that are looked up in a map.
func TestLongEnum(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, `, "v%d", %d`, i, i)
	}
	s := compile(t, `{"items": {"enum": [null, true`+b.String()+`], "minLength": 2}}`)
	checkLines(t, s.Validate([]byte(`["v7", 7, 7.0, 70e-1, null, true]`)), nil)
	for _, wrong := range []string{`false`, `"7"`, `7.5`, `"null"`, `[]`, `"v"`, `"v07"`} {
		found := lines(s.Validate([]byte("[" + wrong + "]")))
		if len(found) != 1 || !strings.HasPrefix(found[0], `[0] must be one of null, true, "v0", 0, "v1", 1,`) {
			t.Errorf("%s: got %q", wrong, found)
		}
	}
	checkLines(t, s.ValidatePartial([]byte(`[null, null]`), []string{"/0", "/1"}), nil)
}

// TestConcurrentGuards validates values concurrently, each with its own step count.
func TestConcurrentGuards(t *testing.T) {
	t.Parallel()
	s := compile(t, filters)
	for i := range 4 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for range 2 {
				ok, bad := s.Validate([]byte(nested(8, "and", `"y"`))), s.Validate([]byte(nested(20+i, "or", `1`)))
				if ok != nil || len(bad) != 1 {
					t.Errorf("got %q and %q", ok, bad)
				}
			}
		})
	}
}

// TestProductsAreBounded has small schemas and values for which each rule applies to
// each part of the value.
func TestProductsAreBounded(t *testing.T) {
	t.Parallel()
	list := func(n int, item string) string { return "[" + strings.Repeat(item+",", n) + item + "]" }
	named := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+",", i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	long := strings.Repeat("1", 900)
	for _, test := range []struct{ name, schema, value string }{
		{"allOf", `{"items":{"allOf":` + list(4500, `{"minimum":0}`) + `}}`, list(50_000, "1")},
		{"allOf that fails", `{"items":{"allOf":` + list(4500, `{"minimum":2}`) + `}}`, list(50_000, "1")},
		{"wrong types", `{"items":{"allOf":` + list(4500, `{"type":"string"}`) + `}}`, list(50_000, "1")},
		{"false", `{"items":{"anyOf":` + list(4500, `false`) + `}}`, list(50_000, "1")},
		{"patterns of names", `{"patternProperties":{` + named(4000, `"x%d$":{}`) + `}}`, "{" + named(2000,
			`"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz%d":1`) + "}"},
		{"required", `{"items":{"required":[` + named(4500, `"a%d"`) + `]}}`, list(50_000, "{}")},
		{"dependent", `{"items":{"dependentRequired":{` + named(3000, `"a%d":["b"]`) + `}}}`, list(50_000, "{}")},
		{"numbers", `{"items":{"anyOf":` + list(150, `{"enum":[`+named(40, long+"%d")+`]}`) + `}}`, list(1000, long)},
		{"constants", `{"items":{"oneOf":` + list(1900, `{"const":`+list(2, `1`)+`}`) + `}}`, list(20_000, list(2, `1`))},
		{"long strings", `{"allOf":` + list(4500, `{"minLength":1}`) + `}`, `"` + strings.Repeat("ä", 500_000) + `"`},
		{"unevaluated", `{"allOf":` + list(4500, `{"title":"x"}`) + `,"unevaluatedProperties":{}}`, "{" + named(20_000,
			`"a%d":1`) + "}"},
		{"unique", `{"uniqueItems":true,"items":{"$ref":"#"}}`, strings.Repeat("[", 900) + list(200_000,
			"1") + strings.Repeat(
			"]", 900)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			switch test.name {
			case "patterns of names", "required", "unevaluated":
			default:
				skipSlow(t)
			}
			s := compile(t, test.schema)
			var found []schema.Finding
			found = s.Validate([]byte(test.value))
			if len(found) != 1 || !strings.HasPrefix(found[0].String(), "the value is too complex to be checked: its "+
				"schema has too many rules for ") {
				t.Errorf("got %q", clip(lines(found)))
			}
			found = s.ValidatePartial([]byte(test.value), []string{"/nowhere"})
			if found != nil {
				t.Errorf("partial: got %q", clip(lines(found)))
			}
		})
	}
}

// TestLargeValuesAreChecked checks a large value against an ordinary schema.
func TestLargeValuesAreChecked(t *testing.T) {
	t.Parallel()
	const record = `{"type":"object","properties":{
		"id":{"type":"string","pattern":"^[a-z]+-[0-9]+$"},"name":{"type":"string","minLength":1,"maxLength":200},
		"state":{"enum":["open","closed","draft","merged","rejected","waiting","planned","gone"]},
		"sum":{"type":"number","minimum":0,"multipleOf":0.01},
		"note":{"anyOf":[{"type":"string"},{"type":"null"}]},
		"tags":{"type":"array","items":{"type":"string"},"uniqueItems":true},
		"owner":{"$ref":"#/$defs/user"},"by":{"anyOf":[{"$ref":"#/$defs/user"},{"type":"null"}]},
		"n":{"type":"integer"},"ok":{"type":"boolean"}},
		"required":["id","name"],"additionalProperties":false}`
	s := compile(t, `{"type":"array","items":`+record+`,"$defs":{"user":{"type":"object",`+
		`"properties":{"login":{"type":"string"}},"required":["login"]}}}`)
	var b strings.Builder
	for i := range 3_000 {
		fmt.Fprintf(&b, `{"id":"issue-%d","name":"The name of it","state":"planned","sum":12.5,"note":null,"tags":["a",`+
			`"b"],"owner":{"login":"ann"},"by":null,"n":%[1]d,"ok":true},`, i)
	}
	checkLines(t, s.Validate([]byte("["+strings.TrimSuffix(b.String(), ",")+"]")), nil)
	checkLines(t, s.Validate([]byte("["+b.String()+`{"id":"x"}]`)), []string{
		`[3000].id must match /^[a-z]+-[0-9]+$/, not "x"`, `[3000].name is required`})
}

// FuzzBounds makes recursive schemas of a few keywords, and deep values.
func FuzzBounds(f *testing.F) {
	for _, seed := range []string{"", "aio", "aiaiaj", "pcpc", "nanb", "dpqru", "xyzw", "oiopocou", "rrrr"} {
		f.Add(seed, uint8(30))
	}
	f.Fuzz(func(t *testing.T, shape string, depth uint8) {
		s, err := schema.Compile([]byte(odd(shape)))
		if err != nil {
			return
		}
		n := int(depth)
		for _, value := range []string{
			strings.Repeat("[", n) + "1" + strings.Repeat("]", n),
			strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n),
			strings.Repeat(`[1,{"a":`, n) + "1" + strings.Repeat("}]", n),
		} {
			s.Validate([]byte(value))
			s.ValidatePartial([]byte(value), []string{"/a", "/0/a/..."})
		}
	})
}

// odd makes a schema in which each letter adds a keyword that contains the next.
func odd(shape string) string {
	const self = `{"$ref": "#"}`
	keywords := map[rune]string{
		'a': `"anyOf": [%s, {"items": ` + self + `}, {"additionalProperties": ` + self + `}]`,
		'o': `"oneOf": [{"items": %s}, {"items": ` + self + `, "minItems": 2}]`,
		'i': `"items": %s`, 'c': `"contains": %s`, 'p': `"patternProperties": {"a": %s, "^.$": ` + self + `}`,
		'd': `"dependentSchemas": {"a": %s}`, 'n': `"not": %s`, 'r': `"allOf": [%s, {"items": ` + self + `}]`,
		'u': `"unevaluatedProperties": %s`, 'q': `"properties": {"a": %s}`, 'x': `"if": %s, "then": {"items": ` + self + `}`,
		'y': `"prefixItems": [%s, true]`, 'z': `"$dynamicAnchor": "n", "items": {"$dynamicRef": "#n"}, "allOf": [%s]`,
		'w': `"unevaluatedItems": %s`, 'e': `"propertyNames": %s`,
	}
	inner := self
	for _, letter := range shape[:min(len(shape), 30)] {
		if keyword, ok := keywords[letter]; ok {
			inner = "{" + fmt.Sprintf(keyword, inner) + "}"
		}
	}
	if inner == self {
		return "true"
	}
	return inner
}
