package dispatch_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
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
		b := &tools.Binding{Tool: &tools.Tool{InputSchema: json.RawMessage(c.schema)}}
		if got := string(dispatch.Named(b, json.RawMessage(c.args))); got != c.want {
			t.Errorf("%s, %s: got %s, want %s", c.schema, c.args, got, c.want)
		}
	}
}

// Named returns valid JSON for valid JSON, whatever the schema.
func FuzzNamed(f *testing.F) {
	f.Add(`{"properties":{"a":{"type":"string"}},"required":["a"]}`, `"x"`)
	f.Add(`{"properties":{"\u0000":{"type":"string"}},"required":["\u0000"]}`, `"\ud800"`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		b := &tools.Binding{Tool: &tools.Tool{InputSchema: json.RawMessage(schema)}}
		if got := dispatch.Named(b, json.RawMessage(args)); json.Valid([]byte(args)) && !json.Valid(got) {
			t.Errorf("%s", got)
		}
	})
}

// Null for an optional argument is dropped where the schema forbids it, for the policies, the journal and the tool.
func TestNullsAreDropped(t *testing.T) {
	t.Parallel()
	const input = `{"type":"object","required":["must"],"additionalProperties":false,"properties":{"must":{"type":"string"},
		"may":{"type":"integer"},"set":{"type":"integer","default":7},"nullable":{"type":["string","null"]},
		"in":{"type":"object","properties":{"may":{"type":"string"}}}}}`
	var seen []string
	see := func(args json.RawMessage) { seen = append(seen, string(args)) }
	tool := &tools.Tool{Namespace: "a", Name: "t", InputSchema: json.RawMessage(input),
		Handler: func(_ context.Context, args json.RawMessage) (json.RawMessage, error) { see(args); return nil, nil }}
	set, err := tools.NewSet(t.Context(), tool)
	if err != nil {
		t.Fatal(err)
	}
	set = set.With(func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			see(c.Args)
			return next.Call(ctx, c)
		})
	})
	j := journal.New(nil)
	call := func(args string) error {
		_, err := dispatch.New(set, j.Attempt()).Issue(tools.Call{Args: json.RawMessage(args)}, 0).Perform(t.Context())
		return err
	}
	if err := call(`{"must":"m","may":null,"set":null,"nullable":null,"in":{"may":null}}`); err != nil {
		t.Fatal(err)
	}
	see(j.Entries()[0].Args)
	const want = `{"in":{},"must":"m","nullable":null,"set":7}`
	if !slices.Equal(seen, []string{want, want, want}) {
		t.Errorf("got %s, want %s", seen, want)
	}
	for args, want := range map[string]string{
		`{"must":null,"may":null}`: "tool a.t: must must be a string, not null",
		`{"must":"m","other":null}`: "tool a.t: other is not a known property (other properties: in, may, " +
			"nullable, set)",
	} {
		if err := call(args); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", args, err, want)
		}
	}
	if b := set.Bindings()[0]; len(b.Check([]byte(`{"must":null,"may":null}`), []string{"/must"})) > 0 {
		t.Error("an unknown value is refused")
	}
}
