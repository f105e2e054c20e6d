package tools_test

import (
	"encoding/json"
	"testing"

	"github.com/writ-go/writ/tools"
)

func TestNamed(t *testing.T) {
	t.Parallel()
	const one = `{"type":"object","properties":{"a\"b":{"type":"string"}},"required":["a\"b"]}`
	for _, c := range []struct{ schema, args, want string }{
		{one, `"x\n"`, `{"a\"b":"x\n"}`},
		{one, `""`, `{"a\"b":""}`},
		{one, `{"a\"b":"x"}`, `{"a\"b":"x"}`},
		{one, `5`, `5`},
		{one, `null`, `null`},
		{one, `["x"]`, `["x"]`},
		{`{"properties":{"a":{"type":"string"}}}`, `"x"`, `"x"`},
		{`{"properties":{"a":{"type":"integer"}},"required":["a"]}`, `"x"`, `"x"`},
		{`{"properties":{"a":{"type":["string","null"]}},"required":["a"]}`, `"x"`, `"x"`},
		{`{"properties":{"a":{"$ref":"#/$defs/a"}},"required":["a"]}`, `"x"`, `"x"`},
		{`{"properties":{"a":true},"required":["a"]}`, `"x"`, `"x"`},
		{`{"properties":{"a":{"type":"string"},"b":{}},"required":["a"]}`, `"x"`, `"x"`},
		{`{"properties":{"a":{"type":"string"}},"required":["b"]}`, `"x"`, `"x"`},
		{`{"properties":{"a":{"type":"string"}},"required":["a","b"]}`, `"x"`, `"x"`},
		{`{"properties":{"a":{"type":"array"}},"required":["a"]}`, `["x"]`, `{"a":["x"]}`},
		{`{"properties":{"a":{"type":"array"}},"required":["a"]}`, `"x"`, `"x"`},
		{`{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"array"}]}},"required":["a"]}`, `["x"]`, `{"a":["x"]}`},
		{`{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"array"}]}},"required":["a"]}`, `"x"`, `{"a":"x"}`},
		{`{"properties":{"a":{"type":"array"},"b":{}},"required":["a"]}`, `["x"]`, `["x"]`},
		{`true`, `"x"`, `"x"`},
		{``, `"x"`, `"x"`},
	} {
		b := tools.Binding{Tool: &tools.Tool{InputSchema: json.RawMessage(c.schema)}}
		if got := string(b.Named(json.RawMessage(c.args))); got != c.want {
			t.Errorf("%s, %s: got %s, want %s", c.schema, c.args, got, c.want)
		}
	}
}

// Named returns valid JSON for valid JSON, whatever the schema.
func FuzzNamed(f *testing.F) {
	f.Add(`{"properties":{"a":{"type":"string"}},"required":["a"]}`, `"x"`)
	f.Add(`{"properties":{"\u0000":{"type":"string"}},"required":["\u0000"]}`, `"\ud800"`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		b := tools.Binding{Tool: &tools.Tool{InputSchema: json.RawMessage(schema)}}
		if got := b.Named(json.RawMessage(args)); json.Valid([]byte(args)) && !json.Valid(got) {
			t.Errorf("%s", got)
		}
	})
}
