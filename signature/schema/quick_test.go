package schema

import (
	"encoding/json"
	"testing"
)

func TestQuick(t *testing.T) {
	t.Parallel()
	tests := []struct {
		schema string
		fits   []string // of which it is certain
		unsure []string
	}{
		{`{"type": "string"}`, []string{`"a"`, `"é\n"`}, []string{`1`, `null`, `"`, `"a" "b"`, ``}},
		{`{"type": "string", "minLength": 1, "maxLength": 2}`, []string{`"a"`, ` "ab" `}, []string{`""`, `"abc"`, `"é"`, `"\n"`}},
		{`{"type": "string", "enum": ["a", "é"]}`, []string{`"a"`, `"é"`}, []string{`"b"`, `"\u0061"`}},
		{`{"enum": ["a", 1, true, null]}`, []string{`"a"`}, []string{`1`, `true`, `null`, `"1"`}},
		{`{"type": "integer", "minimum": 0, "maximum": 10}`, []string{`0`, `10`, `-0`}, []string{`-1`, `11`, `1.0`, `1e0`, `"1"`}},
		{`{"type": "integer"}`, []string{`999999999999999`, `-99999999999999`}, []string{`1000000000000000`, `1.5`}},
		{`{"type": "number", "minimum": 0, "maximum": 1}`, []string{`0`, `1`, `0.5`}, []string{`0.0`, `1.0`, `1.5`, `0.99999999999999999`}},
		{`{"type": "number", "maximum": 0.1}`, nil, []string{`0.05`}},
		{`{"type": "number", "exclusiveMaximum": 1}`, nil, []string{`0`}},
		{`{"type": "boolean"}`, []string{`true`, `false`}, []string{`null`, `0`}},
		{`{"anyOf": [{"type": "integer", "minimum": 3}, {"type": "null"}]}`, []string{`3`, `null`}, []string{`2`, `"x"`}},
		{`{"type": ["string", "null"]}`, nil, []string{`"a"`, `null`}},
		{`true`, []string{`1`, `"a"`, `null`}, []string{`[]`, `{}`, `1e9`}},
		{`{"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2}`, []string{`["a"]`, `[ "a" , "b" ]`}, []string{`[]`, `["a","b","c"]`, `[1]`}},
		{`{"type": "array"}`, []string{`[]`, ` [ ] `, "[1,\n\"\\u00e9\", true,false , null, -0.5]"}, []string{
			``, `[`, `]`, `[1`, `[1,]`, `[,1]`, `[1 2]`, `[1,,2]`, `[1]]`, `[1],`, `[01]`, `[-]`, `[1.]`, `[.5]`, `[+1]`, `[1e2]`, `[1-1]`, `[tru]`, `[truee]`,
			`[nul`, "[\"a\nb\"]", `["\q"]`, `["\u12"]`, `["a]`, `["\"]`, "[1]\x00", "[1\v]", `{"a": 1]`,
		}},
		{`{"type": "object", "properties": {"a": {}}}`, []string{`{}`, `{ }`, ` {"a" : 1} `}, []string{
			`{"a"}`, `{"a" 1}`, `{"a":}`, `{"a":1,}`, `{,"a":1}`, `{a:1}`, `{"a":1`, `{"a":1}}`, `{"a"::1}`, `{1:1}`, `{"a":1;}`, `{"a`,
		}},
		{`{"type": "array", "uniqueItems": true}`, nil, []string{`[1]`}},
		{`{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "object", "properties": {"c": {}}}}, "required": ["a"], "additionalProperties": false}`,
			[]string{`{"a": "x"}`, `{"b": {"c": 1}, "a": ""}`, `{"a":"x","b":{}}`}, []string{`{}`, `{"b": {}}`, `{"a": "x", "a": "y"}`, `{"\u0061": "x"}`, `{"a": "x", "d": 1}`, `{"a": "x", "b": {"c": {}}}`}},
		{`{"type": "object", "properties": {"a": {"format": "date"}, "b": {"not": {}}}}`, []string{`{}`, `{"a": "x"}`}, []string{`{"b": 1}`}},
		{`{"type": "object", "required": ["a"]}`, nil, []string{`{}`, `{"a": 1}`}},
		{`{"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}`, nil, []string{`"a"`}},
	}
	for _, test := range tests {
		t.Run(test.schema, func(t *testing.T) {
			t.Parallel()
			s, err := Compile(json.RawMessage(test.schema))
			if err != nil {
				t.Fatal(err)
			}
			for _, value := range test.fits {
				if !s.quick.fits(json.RawMessage(value)) || s.validate(json.RawMessage(value), nil) != nil {
					t.Errorf("%s does not fit", value)
				}
			}
			for _, value := range test.unsure {
				if s.quick.fits(json.RawMessage(value)) {
					t.Errorf("%s fits for certain", value)
				}
			}
		})
	}
}

// FuzzQuick checks that what fits for certain is valid.
func FuzzQuick(f *testing.F) {
	f.Add(`{"type": "object", "properties": {"a": {"type": "string", "minLength": 1}, "b": {"type": "number", "minimum": 0.5}}, "required": ["a"]}`, `{"a": "x", "b": 0.5}`, true)
	f.Add(`{"anyOf": [{"enum": ["a", 1]}, {"type": "array", "items": {"type": "integer"}, "maxItems": 3}, true]}`, `[1, 2]`, false)
	f.Add(`{"type": "string", "maxLength": 3, "format": "date"}`, `"2026-01-31"`, true)
	f.Add(`{"minimum": 1, "maximum": 123456789012345}`, `1.00000000000001`, false)
	f.Fuzz(func(t *testing.T, schema, value string, formats bool) {
		s, err := compile(json.RawMessage(schema), formats)
		if err != nil {
			return
		}
		if findings := s.validate(json.RawMessage(value), nil); findings != nil && s.quick.fits(json.RawMessage(value)) {
			t.Errorf("%s: %s fits for certain, but %v", schema, value, findings)
		}
	})
}
