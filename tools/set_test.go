package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// handler returns the same result for every call.
func handler(result string, err error) tools.Handler {
	return func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(result), err
	}
}

func newSet(t *testing.T, sources ...tools.Source) *tools.Set {
	t.Helper()
	set, err := tools.NewSet(t.Context(), sources...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// group is a source of several tools, or of an error.
type group struct {
	list []*tools.Tool
	err  error
}

func (g group) Tools(context.Context) ([]*tools.Tool, error) { return g.list, g.err }

func TestCheckResult(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ namespace, schema, result, want string }{
		{"", ``, `3`, ""},
		{"", `null`, `3`, ""},
		{"", `true`, ``, ""},
		{"", `{}`, ``, ""},
		{"", `{"type": "string"}`, `"x"`, ""},
		{"", `{"type": "string"}`, `3`, "the value must be a string, not 3"},
		{"", `{"type": "string"}`, ``, "the value must be a string, not null"},
		{"", `{"type": "text"}`, `3`, ""}, // it does not compile
		{"mail", `{"type": "string"}`, `3`, "the value must be a string, not 3"},
		{"mail", `{"type": "string", "nullable": true}`, `null`, ""},
	} {
		tool := &tools.Tool{Namespace: test.namespace, Name: "x", Handler: handler("1", nil)}
		tool.OutputSchema = json.RawMessage(test.schema)
		b := newSet(t, tool).Bindings()[0]
		for range 2 {
			if got := schema.Summary(b.CheckResult(json.RawMessage(test.result))); got != test.want {
				t.Errorf("%s of %s: got %q, not %q", test.result, test.schema, got, test.want)
			}
		}
	}
}

func TestNewSetErrors(t *testing.T) {
	t.Parallel()
	ok := handler("1", nil)
	tests := []struct {
		name    string
		sources []tools.Source
		want    string
	}{
		{"nil source", []tools.Source{nil}, "tools: source 1 is nil"},
		{"nil tool", []tools.Source{(*tools.Tool)(nil)}, "tools: a source returned a nil tool"},
		{"nil in a list", []tools.Source{group{list: []*tools.Tool{nil}}}, "tools: a source returned a nil tool"},
		{"failing source", []tools.Source{group{err: errors.New("no network")}}, "no network"},
		{"no handler", []tools.Source{&tools.Tool{Name: "a"}}, `tools: tool "a" has no Handler`},
		{"parameters of an effect", []tools.Source{&tools.Tool{Name: "a", Params: []string{"to"}, Handler: ok}},
			`tools: tool "a" has Params, but its class is not Read`},
		{"half a way back", []tools.Source{&tools.Tool{Name: "a", Handler: ok, RevertWith: &tools.Inverse{Tool: "b"}}},
			`tools: tool "a": RevertWith needs Tool and Args`},
		{"no handler in a namespace", []tools.Source{&tools.Tool{Namespace: "s", Name: "a"}},
			`tools: tool "a" of "s" has no Handler`},
		{"no name", []tools.Source{&tools.Tool{Handler: ok}},
			`tools: tool "": the name is not a JavaScript identifier; use "_"`},
		{"bad name", []tools.Source{&tools.Tool{Name: "1 of-2", Handler: ok}},
			`tools: tool "1 of-2": the name is not a JavaScript identifier; use "_1_of_2"`},
		{"taken name", []tools.Source{&tools.Tool{Name: "a", Handler: ok}, &tools.Tool{Name: "a", Handler: ok}},
			`tools: tool "a": another tool already has that name; choose a different name`},
		{"bad schema", []tools.Source{&tools.Tool{Name: "a", Handler: ok, InputSchema: []byte(`{"type":"int"}`)}},
			`tools: tool "a": input schema: schema: type must be one of "array", "boolean", "integer", "null", "number", ` +
				`"object", "string", not "int"`},
		{"all at once", []tools.Source{nil, &tools.Tool{Name: "if", Handler: ok}, &tools.Tool{Name: "a"}},
			"tools: source 1 is nil\ntools: tool \"if\": the name is reserved in programs; choose another\ntools: tool \"a\" " +
				"has no Handler"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			set, err := tools.NewSet(t.Context(), test.sources...)
			if set != nil || err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// If the schema of a server's tool does not compile, its arguments are left to the server. Schemas
// are compiled when they are first needed.
func TestForeignSchemaIsInvalid(t *testing.T) {
	t.Parallel()
	chain := `{"$ref":"#/$defs/d0","$defs":{`
	for i := range 110 {
		chain += fmt.Sprintf(`"d%d":{"$ref":"#/$defs/d%d"},`, i, i+1)
	}
	chain += `"d110":{}}}`
	var sources []tools.Source
	var want []string
	for i, test := range []struct{ input, reason string }{
		{`{"properties":{"a":{"type":"int"},"c":{"type":"string"}},"required":["c"]}`, `properties.a.type must be one of ` +
			`"array", "boolean", "integer", "null", "number", "object", "string", not "int"`},
		{`{"properties":{"a":{"$ref":"#/nowhere"}}}`, `json-pointer in "#/nowhere" not found`},
		{`{"properties":{"a":{"$ref":"https://example.com/a.json"}}}`,
			`refers to "https://example.com/a.json", which is not loaded; copy it into $defs`},
		{`{"items":[{"type":"string"}]}`, `items must be a boolean or an object, not an array`},
		{`{"properties":{"a":{"exclusiveMinimum":true}}}`, `properties.a.exclusiveMinimum must be a number, not true`},
		{`"no schema"`, `the value must be a boolean or an object, not "no schema"`},
		{`{"a":`, `is not valid JSON: unexpected end of JSON input (byte 5)`},
		{strings.Repeat(`{"not":`, 300) + `{}` + strings.Repeat(`}`, 300), `is nested deeper than 200`},
		{`{"enum":[` + strings.Repeat("0,", 10_000) + `1]}`, `has 10003 values; the limit is 10000`},
		{chain, `"#/$defs/d9" applies too many schemas to one value`},
	} {
		name := string(rune('a' + i))
		sources = append(sources, &tools.Tool{Namespace: "s", Name: name, Handler: handler("1", nil),
			InputSchema: []byte(test.input)})
		want = append(want, fmt.Sprintf(`tool %q of "s": its arguments are not checked: input schema: schema: %s`, name,
			test.reason))
	}
	set := newSet(t, sources...)
	if got := set.Warnings(); got != nil {
		t.Errorf("before a call: got %q", got)
	}
	for i, b := range set.Bindings() {
		if got := b.Check([]byte(`{"a":"any","b":"thing"}`), nil); got != nil {
			t.Errorf("tool %d: got %q", i, got)
		}
		if got := schema.Summary(b.Check([]byte(`[]`), nil)); got != "the value must be an object, not an array" {
			t.Errorf("tool %d: got %q", i, got)
		}
		result, err := dispatch.New(set, nil).Issue(tools.Call{ID: 1, Args: []byte(`{"a":1}`)}, i).Perform(t.Context())
		if err != nil || string(result) != "1" {
			t.Errorf("tool %d: got %s, %v", i, result, err)
		}
	}
	if got := set.Warnings(); !slices.Equal(got, want) {
		t.Errorf("after a call: got  %q\nwant %q", got, want)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	typed := `{"properties":{"n":{"type":"integer"}},"required":["n"]}`
	tests := []struct{ name, schema, args, unknown, want string }{
		{"valid", typed, `{"n":1}`, "", ""},
		{"wrong", typed, `{"n":"x"}`, "", `n must be an integer, not "x"`},
		{"not an object, without a type", typed, `5`, "", "the value must be an object, not 5"},
		{"unknown part", typed, `{"n":null}`, "/n", ""},
		{"unknown whole", typed, `null`, "-", ""},
		{"no schema", ``, `{"n":"x"}`, "", ""},
		{"no schema, not an object", ``, `[]`, "", "the value must be an object, not an array"},
		{"null schema", ` null `, `{"n":"x"}`, "", ""},
		{"null schema, not an object", `null`, `null`, "", "the value must be an object, not null"},
		{"true schema", `true`, `{"n":"x"}`, "", ""},
		{"true schema, not an object", `true`, `"x"`, "", `the value must be an object, not "x"`},
		{"false schema", `false`, `{}`, "", "the value is not allowed"},
		{"no JSON", typed, `{`, "", "the value is not valid JSON: unexpected end of JSON input (byte 1)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			set := newSet(t, &tools.Tool{Name: "a", Handler: handler("1", nil), InputSchema: []byte(test.schema)})
			var unknown []string
			if test.unknown != "" {
				unknown = []string{strings.TrimPrefix(test.unknown, "-")}
			}
			var lines []string
			for _, f := range set.Bindings()[0].Check([]byte(test.args), unknown) {
				lines = append(lines, f.String())
			}
			if got := strings.Join(lines, "; "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestSetIsASnapshot(t *testing.T) {
	t.Parallel()
	list := []*tools.Tool{{Name: "a", Handler: handler("1", nil)}}
	set := newSet(t, group{list: list})
	list[0] = nil
	set.Bindings()[0] = nil
	if got := set.Bindings()[0].Path(); got != "a" || set.Len() != 1 {
		t.Errorf("got %s and %d tools", got, set.Len())
	}
	set = newSet(t, &tools.Tool{Namespace: "if", Name: "a", Handler: handler("1", nil)})
	set.Warnings()[0] = ""
	if got := set.Warnings()[0]; got != `namespace "if" is called if_ in programs` {
		t.Errorf("got %s", got)
	}
}

func TestNilSet(t *testing.T) {
	t.Parallel()
	var set *tools.Set
	if set.Len() != 0 || set.Bindings() != nil || set.Warnings() != nil || set.With(passing).Len() != 0 {
		t.Error("a nil set is not empty")
	}
	_, err := dispatch.New(set, nil).Issue(tools.Call{ID: 1}, 0).Perform(t.Context())
	if want := "the tool does not exist"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestWithHints(t *testing.T) {
	t.Parallel()
	read := &tools.Tool{Namespace: "fs", Name: "read", Handler: handler("1", nil)}
	write := &tools.Tool{Namespace: "fs", Name: "write", Handler: handler("1", nil), Hints: tools.Hints{Destructive: true}}
	source := tools.WithHints(group{list: []*tools.Tool{read, write}}, func(t *tools.Tool) tools.Hints {
		h := t.Hints
		if t.Name == "read" {
			h.Class = tools.Read
		}
		t.Name = "changed" // in the copy only
		return h
	})
	set := newSet(t, source)
	a, b := set.Bindings()[0], set.Bindings()[1]
	if a.Hints.Class != tools.Read || b.Hints.Class != tools.Unclassified || !b.Hints.Destructive {
		t.Errorf("got %+v and %+v", a.Hints, b.Hints)
	}
	if read.Hints.Class != tools.Unclassified || read.Name != "read" {
		t.Errorf("the original was changed: %+v", read)
	}
}

func TestWithHintsErrors(t *testing.T) {
	t.Parallel()
	none := func(*tools.Tool) tools.Hints { return tools.Hints{} }
	tests := []struct {
		name   string
		source tools.Source
		want   string
	}{
		{"nil source", tools.WithHints(nil, none), "tools: WithHints needs a source and a function"},
		{"nil function", tools.WithHints(group{}, nil), "tools: WithHints needs a source and a function"},
		{"nil tool", tools.WithHints(group{list: []*tools.Tool{nil}}, none), "tools: a source returned a nil tool"},
		{"failing source", tools.WithHints(group{err: errors.New("no network")}, none), "no network"},
		{"broken tool", tools.WithHints(tools.Func[string, string]("a", "", nil, nil), none),
			`tools: tool "a": argument type string is not a struct; use a struct with a field per argument`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if _, err := tools.NewSet(t.Context(), test.source); err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestHintsAreChecked(t *testing.T) {
	t.Parallel()
	send := func(context.Context, struct {
		To string `json:"to"`
	}) (int, error) {
		return 0, nil
	}
	for _, test := range []struct {
		hints tools.Hints
		want  string
	}{
		{tools.Hints{Identity: []string{"to"}}, ""},
		{tools.Hints{Identity: []string{"too"}},
			`tools: tool "send": hints: the identity "too" is not one of the tool's arguments`},
		{tools.Hints{Class: 77}, `tools: tool "send": hints: unknown class 77; use Effect, Idempotent or Read`},
	} {
		_, err := tools.NewSet(t.Context(), tools.Func("send", "", send, &test.hints))
		if got := fmt.Sprint(err); got != test.want && !(err == nil && test.want == "") {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

func TestPlus(t *testing.T) {
	t.Parallel()
	var calls []string
	seen := func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			calls = append(calls, c.Tool.Path())
			return next.Call(ctx, c)
		})
	}
	tool := func(namespace, name string) *tools.Tool {
		return &tools.Tool{Namespace: namespace, Name: name, Handler: handler("1", nil)}
	}
	set := newSet(t, tool("", "one"), tool("s", "two"), tool("odd-s", "three")).With(seen)
	more, err := set.Plus(tool("", "four"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range more.Len() {
		if _, err := dispatch.New(more, nil).Issue(tools.Call{Args: json.RawMessage("{}")}, i).Perform(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if want := []string{"one", "s.two", "odd_s.three", "four"}; !slices.Equal(calls, want) || set.Len() != 3 {
		t.Errorf("got %q of %d, want %q", calls, set.Len(), want)
	}
	if other, err := set.Plus(tool("", "five")); err != nil || other.Bindings()[3].Path() != "five" ||
		more.Bindings()[3].Path() != "four" {
		t.Error("two sets share what was added", err)
	}
	var none *tools.Set
	if set, err := none.Plus(tool("", "one")); err != nil || set.Len() != 1 {
		t.Error(set.Len(), err)
	}
	wrong := func(name string) string {
		return "tools: tool " + name + ": the name or the namespace is taken, reserved or not an identifier, " +
			"or the class is not Read in the namespace tools, to which policies do not apply"
	}
	for want, c := range map[string]*tools.Tool{
		"tools: a source returned a nil tool":                                              nil,
		`tools: tool "one": another tool already has that name; choose a different name`:   tool("", "one"),
		`tools: tool "odd_s": another tool already has that name; choose a different name`: tool("", "odd_s"),
		`tools: tool "await": the name is reserved in programs; choose another`:            tool("", "await"),
		wrong(`"two" of "s"`):   tool("s", "two"),
		wrong(`"then" of "s"`):  tool("s", "then"),
		wrong(`"a b" of "s"`):   tool("s", "a b"),
		wrong(`"a" of "one"`):   tool("one", "a"),
		wrong(`"a" of "a b"`):   tool("a b", "a"),
		wrong(`"a" of "await"`): tool("await", "a"),
		wrong(`"a" of "tools"`): tool("tools", "a"),
	} {
		if more, err := set.Plus(c); more != nil || err == nil || err.Error() != want {
			t.Errorf("got %v, %v, want %s", more, err, want)
		}
	}
}

// A set can be extended by a namespace, and restricted without new names.
func TestPlusNamespaceAndOnly(t *testing.T) {
	t.Parallel()
	paths := func(s *tools.Set) (list []string) {
		for _, b := range s.Bindings() {
			list = append(list, b.Path())
		}
		return list
	}
	set := newSet(t, &tools.Tool{Namespace: "s", Name: "a.b", Handler: handler("1", nil)},
		&tools.Tool{Namespace: "s", Name: "a_b", Handler: handler("1", nil)})
	for _, name := range []string{"one", "two"} {
		var err error
		if set, err = set.Plus(&tools.Tool{Namespace: "more", Name: name, Handler: handler("1", nil)}); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"s.a_b_2", "s.a_b", "more.one", "more.two"}
	if got := paths(set); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	some := set.Only(func(b *tools.Binding) bool { return b.Name != "a_b" && b.Name != "two" })
	if got := paths(some); !slices.Equal(got, []string{"s.a_b_2", "more.one"}) || set.Len() != 4 {
		t.Errorf("got %q of %d", got, set.Len())
	}
}
