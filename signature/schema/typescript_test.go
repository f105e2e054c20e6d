package schema_test

import (
	"strings"
	"testing"

	"github.com/writ-go/writ/signature/schema"
)

func TestTypeScript(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, schema, want string }{
		{"anything", `true`, `unknown`},
		{"empty", `{}`, `unknown`},
		{"nothing", `false`, `never`},
		{"object", `{"type": "object", "properties": {"name": {"type": "string"}, "limit": {"type": "number"}}, ` +
			`"required": ["name"]}`, `{name: string; limit?: number}`},
		{"order", `{"properties": {"z": {}, "a": {}, "m": {}}}`, `{z?: unknown; a?: unknown; m?: unknown}`},
		{"unseen values", `{"enum": ["a\u202eb", "\u007f", "~~~", "\udb40\udc01"]}`, `"a\u202eb" | "\u007f" | ` +
			`"\u007e\u007e\u007e" | "\udb40\udc01"`},
		{"odd names", `{"properties": {"odd name": {}, "a\u2028*/": {}, "ünï": {}}}`, `{"odd name"?: unknown; ` +
			`"a\u2028*/"?: unknown; ünï?: unknown}`},
		{"required only", `{"type": "object", "required": ["id"]}`, `{id: unknown}`},
		{"enum", `{"enum": ["a", 1, null, true]}`, `"a" | 1 | true | null`},
		{"const", `{"const": "x"}`, `"x"`},
		{"array of union", `{"type": "array", "items": {"enum": ["a", "b"]}}`, `("a" | "b")[]`},
		{"array", `{"type": "array"}`, `unknown[]`},
		{"tuple", `{"prefixItems": [{"type": "string"}, {"type": ["number", "null"]}], "items": {"type": "boolean"}}`,
			`[string, number | null, ...boolean[]]`},
		{"closed tuple", `{"prefixItems": [{"type": "string"}], "items": false}`, `[string]`},
		{"old tuple", `{"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}], ` +
			`"additionalItems": {"type": "number"}}`, `[string, ...number[]]`},
		{"map", `{"type": "object", "additionalProperties": {"type": ["string", "null"]}}`, `Record<string, string | null>`},
		{"pattern map", `{"type": "object", "patternProperties": {"^a": {"type": "string"}, "^b": {"type": "number"}}}`,
			`Record<string, string | number>`},
		{"free object", `{"type": "object"}`, `Record<string, unknown>`},
		{"no properties", `{"type": "object", "additionalProperties": false}`, `{}`},
		{"nullable", `{"anyOf": [{"type": "null"}, {"type": "string"}]}`, `string | null`},
		{"union with unknown", `{"anyOf": [{"type": "string"}, {}]}`, `unknown`},
		{"all of", `{"allOf": [{"properties": {"a": {"type": "string"}}}, {"anyOf": [{"type": "string"}, {"type": ` +
			`"number"}]}]}`, `{a?: string} & (string | number)`},
		{"constraint only branches", `{"type": "object", "properties": {"a": {}}, "anyOf": [{"minProperties": 1}]}`,
			`{a?: unknown}`},
		{"reference", `{"properties": {"a": {"$ref": "#/$defs/A b"}}, "$defs": {"A b": {"type": "string"}}}`, `{a?: string}`},
		{"anchor", `{"properties": {"a": {"$ref": "#A"}}, "$defs": {"x": {"$anchor": "A", "type": "string"}}}`,
			`{a?: string}`},
		{"recursive", `{"properties": {"next": {"$ref": "#"}, "v": {"type": "string"}}}`, `{next?: {next?: unknown; v?: ` +
			`string}; v?: string}`},
		{"comment", `{"properties": {"limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20, ` +
			`"description": "How  many\n at most."}}}`, `{limit?: number /* integer, 1–100, default 20. How many at ` +
			`most. */}`},
		{"constraints", `{"properties": {"a": {"type": "string", "minLength": 1, "pattern": "^a*/", "format": ` +
			`"date-time"}, "b": {"type": "array", "items": {"type": ["integer", "null"], "exclusiveMinimum": 0}, ` +
			`"minItems": 2, "maxItems": 5, "uniqueItems": true}, "c": {"type": "number", "minimum": 3, "maximum": 3, ` +
			`"multipleOf": 0.5, "exclusiveMaximum": 4}}}`,
			`{a?: string /* ≥ 1 character, date-time, /^a*\// */; b?: (number | null)[] /* 2–5 items, unique, each ` +
				`integer, > 0 */; c?: number /* 3, < 4, multiple of 0.5 */}`},
		{"comment through reference and null", `{"properties": {"a": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": ` +
			`"null"}]}}, "$defs": {"A": {"type": "integer", "description": "An A."}}}`, `{a?: number | null /* integer. An ` +
			`A. */}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := compile(t, test.schema).TypeScript(nil); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestTypeScriptOptions(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"properties": {"a": {"description": "Doc.", "properties": {"b": {"properties": {"c": {"type": `+
		`"integer"}}}}}, "l": {"type": "array", "items": {"type": "object"}}}}`)
	tests := []struct {
		options *schema.TypeOptions
		want    string
	}{
		{nil, `{a?: {b?: {c?: number /* integer */}} /* Doc. */; l?: Record<string, unknown>[]}`},
		{&schema.TypeOptions{}, `{a?: {b?: {c?: number}}; l?: Record<string, unknown>[]}`},
		{&schema.TypeOptions{Docs: true, Depth: 1}, `{a?: object /* Doc. */; l?: object[]}`},
		{&schema.TypeOptions{Depth: 2}, `{a?: {b?: object}; l?: Record<string, unknown>[]}`},
	}
	for _, test := range tests {
		if got := s.TypeScript(test.options); got != test.want {
			t.Errorf("%+v:\ngot  %s\nwant %s", test.options, got, test.want)
		}
	}
}

func TestDescriptionsAreCutAtSentences(t *testing.T) {
	t.Parallel()
	long := strings.TrimSpace(strings.Repeat("word ", 30)) // 149 bytes
	tests := []struct{ name, description, want string }{
		{"short", "One. Two.", "One. Two."},
		{"two sentences", long + ". Next sentence.", long + "."},
		{"long first sentence", long + " " + long + ". Next.", long + " " + long + "."},
		{"a sentence that is too long", strings.Repeat("word ", 100), strings.TrimSpace(strings.Repeat("word ", 79)) + "…"},
		{"abbreviation", "Use ISO, e.g. 2026-01-31. W" + long + ".", "Use ISO, e.g. 2026-01-31."},
		{"breakout", "a */ b /* c ``` d\u2028e\u202ef *\u200b/ g", "a *\\/ b /* c ''' d ef *\\/ g"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := compile(t, `{"properties": {"a": {"description": `+quoted(test.description)+`}}}`)
			want := `{a?: unknown /* ` + test.want + ` */}`
			if got := s.TypeScript(nil); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestTypeScriptOfMultiplyingReferencesIsBounded(t *testing.T) {
	t.Parallel()
	s := compile(t, defs(60, func(next string) string {
		return `{"properties": {"a": {"$ref": "` + next + `"}, "b": {"$ref": "` + next + `"}}}`
	}))
	if n := len(s.TypeScript(nil)); n > 1<<20 {
		t.Errorf("got %d bytes", n)
	}
}
