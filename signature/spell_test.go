package signature_test

import (
	"testing"
	"unicode/utf8"

	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/signature/schema"
)

// FuzzString checks that a field of any schema goes through its text.
func FuzzString(f *testing.F) {
	for _, test := range types {
		f.Add(test.schema, true, "")
	}
	f.Add(`{"type": "string", "minimum": 1, "default": "x"}`, false, "What \"it\" is.\n")
	f.Add(`{"anyOf": [{"anyOf": [{"type": "null"}]}, {"type": "null"}], "$comment": ""}`, false, "")
	f.Add(`{"type": "object", "properties": {"a b": {"items": {}}, "c": false}, "required": ["c", "d"], `+
		`"additionalProperties": false}`, true, "")
	f.Fuzz(func(t *testing.T, raw string, required bool, description string) {
		s, err := schema.Compile([]byte(raw))
		if err != nil || !utf8.ValidString(raw+description) {
			return
		}
		field := signature.Field{Name: "a", Schema: s, Required: required, Description: description}
		spec, err := signature.NewSpec("", []signature.Field{field}, []signature.Field{{Name: "b"}})
		if err == nil {
			checkRoundTrip(t, spec)
		}
	})
}

// A nested optional union is spelled once.
func TestStringOfDeepUnions(t *testing.T) {
	t.Parallel()
	text := "int | str"
	for range 45 {
		text = "{a?: " + text + "} | str"
	}
	want := "q: str -> x?: " + text
	if got := signature.Must(signature.Parse(want, "")).String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
