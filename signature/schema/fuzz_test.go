package schema_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/writ-go/writ/signature/schema"
)

var schemaSeeds = []string{
	`true`,
	`{"type": "object", "properties": {"a": {"type": "integer", "minimum": 1, "description": "A. */ B"}}, ` +
		`"required": ["a"], "additionalProperties": false}`,
	`{"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}], "additionalItems": false}`,
	`{"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"const": 1}, {"enum": ["x", null]}, {"items": {"$ref": "#"}}]}}}`,
	`{"oneOf": [{"pattern": "^(a|b)+$"}, {"not": {"type": "string"}}], "propertyNames": {"maxLength": 3}, "if": ` +
		`{"required": ["a"]}, "then": {"dependentRequired": {"a": ["b"]}}}`,
	`{"type": "string", "enum": ["x"], "nullable": true}`,
	`{"prefixItems": [{"format": "date-time"}], "unevaluatedItems": false, "contains": {"multipleOf": 0.1}, ` +
		`"uniqueItems": true}`,
}

func FuzzCompile(f *testing.F) {
	for _, s := range schemaSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := schema.Compile(raw)
		if (s == nil) == (err == nil) {
			t.Fatalf("got %v and %v", s, err)
		}
		if err != nil && strings.Contains(err.Error(), "writ:") {
			t.Errorf("the error shows the invented URL: %v", err)
		}
		if err == nil && !json.Valid(s.Raw()) {
			t.Errorf("Raw is not JSON: %s", s.Raw())
		}
	})
}

// FuzzValidate also checks partial validation: a problem of a value with an unknown
// member remains whatever that member is.
func FuzzValidate(f *testing.F) {
	for _, s := range schemaSeeds {
		f.Add([]byte(s), []byte(`{"a": 1, "b": ["x", null]}`), []byte(`"x"`))
		f.Add([]byte(s), []byte(`{"aa": 1e400}`), []byte(`{}`))
	}
	f.Fuzz(func(t *testing.T, raw, value, member []byte) {
		s, err := schema.Compile(raw)
		if err != nil {
			return
		}
		for _, finding := range s.Validate(value) {
			if finding.Message == "" || strings.ContainsRune(finding.String(), '\n') {
				t.Errorf("bad finding %q", finding)
			}
		}
		if s.Validate(value) == nil && len(value) < 1000 {
			for _, finding := range s.OtherCase(value, 0) {
				if finding.Hint == "" {
					t.Errorf("%s fits, but has the findings %q", value, finding)
				}
			}
		}
		if !json.Valid(member) {
			return
		}
		known := []byte(`{"a": ` + string(member) + `, "c": 1}`)
		partial := []byte(`{"a": null, "c": 1}`)
		if must := s.ValidatePartial(partial, []string{"/a"}); must != nil && s.Validate(known) == nil {
			t.Errorf("%s is valid, but was refused with an unknown member: %v", known, must)
		}
	})
}

func FuzzTypeScript(f *testing.F) {
	for _, s := range schemaSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := schema.Compile(raw)
		if err != nil {
			return
		}
		text := s.TypeScript(nil)
		if strings.Contains(text, "```") || strings.ContainsFunc(text, func(r rune) bool {
			return r != ' ' && unicode.IsSpace(r) && unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp)
		}) {
			t.Errorf("%q breaks out", text)
		}
	})
}

// FuzzTags checks that every rule is either refused or in the schema.
func FuzzTags(f *testing.F) {
	for _, tag := range []string{
		"minimum=1,maximum=2", "minItems=1,pattern=^a$,enum=a", "enum=a,enum=b\\,c,default=a", "default=1",
		"uniqueItems=true,format=date",
		"title=T,description=a, b", "-,minimum=1", "minLength=,=,x", "oneof_required=a,anyof_required=b,nullable,required",
		"example=1e3,exclusiveMinimum=-0.5,multipleOf=0", "readOnly=true,\\,",
	} {
		f.Add(tag)
	}
	types := []reflect.Type{
		reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[bool](), reflect.TypeFor[[]string](),
		reflect.TypeFor[[][]int](),
		reflect.TypeFor[map[string]int](), reflect.TypeFor[any](), reflect.TypeFor[time.Time](),
		reflect.TypeFor[*float64](), reflect.TypeFor[[]tagMood](),
	}
	f.Fuzz(func(t *testing.T, tag string) {
		for _, of := range types {
			s, err := ofTagged(of, tag)
			if err != nil {
				if strings.Contains(err.Error(), "has no schema") {
					t.Errorf("%v with %q: %v", of, tag, err)
				}
				continue
			}
			for _, part := range strings.Split(strings.ReplaceAll(tag, `\,`, ""), ",") {
				name, value, _ := strings.Cut(part, "=")
				word := map[string]string{
					"example": "examples", "oneof_required": "oneOf", "anyof_required": "anyOf", "nullable": "null",
				}[name]
				if word == "" {
					word = name
				}
				if value == "" && (name == "title" || name == "description") {
					continue
				}
				if name != "" && value != "false" && !(name == "nullable" && of == reflect.TypeFor[any]()) &&
					!strings.Contains(string(s.Raw()), `"`+word+`"`) {
					t.Errorf("the schema of %v with %q does not contain %s: %s", of, tag, name, s.Raw())
				}
			}
		}
	})
}
