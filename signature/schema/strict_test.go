package schema_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/writ-go/writ/signature/schema"
)

type strictItem struct {
	Name  string `json:"name" jsonschema:"minLength=1,description=of the item"`
	Count *int   `json:"count,omitempty" jsonschema:"minimum=1"`
}

type strictAnswer struct {
	Zeta  string       `json:"zeta"`
	Alpha []strictItem `json:"alpha"`
	Mood  string       `json:"mood,omitempty" jsonschema:"enum=good,enum=bad"`
	Score float64      `json:"score" jsonschema:"minimum=0,maximum=1"`
}

// Properties keep their order, all are required, and optional ones may be null.
func TestStrict(t *testing.T) {
	t.Parallel()
	s, err := schema.Of(reflect.TypeFor[strictAnswer]())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"object","properties":{"zeta":{"type":"string"},` +
		`"alpha":{"type":"array","items":{"type":"object","properties":{` +
		`"name":{"description":"of the item","type":"string"},"count":{"anyOf":[{"type":"integer"},{"type":"null"}]}},` +
		`"required":["name","count"],"additionalProperties":false}},` +
		`"mood":{"anyOf":[{"type":"string","enum":["good","bad"]},{"type":"null"}]},"score":{"type":"number"}},` +
		`"required":["zeta","alpha","mood","score"],"additionalProperties":false}`
	if got, ok := s.Strict(); !ok || string(got) != want {
		t.Errorf("%t, got\n%s\nwant\n%s", ok, got, want)
	}
}

func TestStrictForms(t *testing.T) {
	t.Parallel()
	in := func(property string) string {
		return `{"type":"object","properties":{"a":` + property + `},"required":["a"]}`
	}
	out := func(property string) string {
		return `{"type":"object","properties":{"a":` + property + `},"required":["a"],"additionalProperties":false}`
	}
	for given, want := range map[string]string{
		in(`{"type":["string","null"],"maxLength":3}`):         out(`{"anyOf":[{"type":"string"},{"type":"null"}]}`),
		in(`{"type":"string","format":"date","pattern":"^a"}`): out(`{"type":"string"}`),
		in(`{"const":"x"}`): out(`{"type":"string","enum":["x"]}`),
		in(`{"enum":["x",null]}`): out(`{"anyOf":[{"type":"string",` +
			`"enum":["x"]},{"type":"null"}]}`),
		in(`{"oneOf":[{"type":"string"},{"type":"integer"}]}`): out(`{"anyOf":[{"type":"string"},` +
			`{"type":"integer"}]}`),
		in(`{"allOf":[{"type":"boolean"}]}`):                                 out(`{"type":"boolean"}`),
		`{"$defs":{"d":{"type":"number"}},` + in(`{"$ref":"#/$defs/d"}`)[1:]: out(`{"type":"number"}`),
		in(`{"type":"object","additionalProperties":{"type":"string"}}`):     "",
		in(`{"type":"object"}`):                                              "",
		in(`true`):                                                           "",
		in(`{}`):                                                             "",
		in(`{"type":"array"}`):                                               "",
		in(`{"type":"array","prefixItems":[{"type":"string"}]}`):             "",
		in(`{"enum":["x",1]}`):                                               "",
		in(`{"allOf":[{"type":"object"},{"type":"object"}]}`):                "",
		`{"$defs":{"d":{"type":"array","items":{"$ref":"#/$defs/d"}}},` + in(`{"$ref":"#/$defs/d"}`)[1:]: "",
		`{"type":"array","items":{"type":"string"}}`:                                                     "",
		`{"type":"object"}`: "",
	} {
		s, err := schema.Compile(json.RawMessage(given))
		if err != nil {
			t.Fatal(given, err)
		}
		if got, ok := s.Strict(); string(got) != want || ok != (want != "") {
			t.Errorf("%s: %t, got\n%s\nwant\n%s", given, ok, got, want)
		}
	}
}

func TestDropUnset(t *testing.T) {
	t.Parallel()
	s, err := schema.Of(reflect.TypeFor[strictAnswer]())
	if err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]string{
		`{"zeta":"z","alpha":[{"name":"n","count":null}],"mood":null,"score":1.50}`: `{"alpha":[{"count":null,` +
			`"name":"n"}],"score":1.50,"zeta":"z"}`,
		`{"zeta":null,"alpha":[],"mood":"good","score":1}`: `{"alpha":[],"mood":"good","score":1,"zeta":null}`,
		`{"mood":null,"mood":"good"}`:                      `{"mood":null,"mood":"good"}`,
		`{"zeta":"z"}`:                                     `{"zeta":"z"}`,
		`null or not`:                                      `null or not`,
	} {
		if got := string(s.DropUnset(json.RawMessage(given))); got != want {
			t.Errorf("%s: got %s, want %s", given, got, want)
		}
	}
}

// Each alternative of a union has its own unset members.
func TestDropUnsetInUnions(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{`{"type":"object","properties":{"u":{"anyOf":[{"type":"object","properties":{"k":{"type":"string"}}},` +
			`{"type":"null"}]}},"required":["u"]}`, `{"u":{"k":null}}`},
		{`{"type":"object","properties":{"u":{"anyOf":[{"type":"object","properties":{"k":{"const":"a"},` +
			`"x":{"type":"string"}},"required":["k"]},{"type":"object","properties":{"k":{"const":"b"},` +
			`"y":{"type":"string"}},"required":["k"]}]}},"required":["u"]}`, `{"u":{"k":"a","x":null}}`},
		{`{"type":"object","properties":{"u":{"oneOf":[{"type":"object","properties":{"k":{"const":"a"},` +
			`"x":{"type":"string"}},"required":["k"],"additionalProperties":false},{"type":"object",` +
			`"properties":{"k":{"const":"b"},"y":{"type":"string"}},"required":["k"],"additionalProperties":false}]}},` +
			`"required":["u"]}`, `{"u":{"k":"b","y":null}}`},
		{`{"type":"object","properties":{"u":{"type":"array","items":{"anyOf":[{"type":"object",` +
			`"properties":{"k":{"type":"string"}},"additionalProperties":false},{"type":"string"}]}}},"required":["u"]}`,
			`{"u":["s",{"k":null}]}`},
		{`{"type":"object","properties":{"u":{"enum":["a","b"]}}}`, `{"u":null}`},
		{`{"type":"object","properties":{"u":{"$ref":"#/$defs/d"}},"$defs":{"d":{"type":"object",` +
			`"properties":{"k":{"type":"string"}}}}}`, `{"u":{"k":null}}`},
		{`{"type":"object","properties":{"u":{"$ref":"#/$defs/d"}},"$defs":{"d":{"type":["string","null"]}}}`, `{"u":null}`},
		{`{"type":"object","properties":{"u":{"enum":["a",null]}}}`, `{"u":null}`},
		{`{"type":"object","properties":{"u":{"type":["object","null"],"properties":{"k":{"type":"string"}}}}}`,
			`{"u":{"k":null}}`},
		{`{"type":"object","properties":{"u":{"oneOf":[{"allOf":[{"type":"object",` +
			`"properties":{"k":{"type":"string"}}}]}]}}}`, `{"u":{"k":null}}`},
	} {
		s, err := schema.Compile(json.RawMessage(c[0]))
		if err != nil {
			t.Fatal(c[0], err)
		}
		out := s.DropUnset(json.RawMessage(c[1]))
		if f := s.Validate(out); f != nil {
			t.Errorf("%s\nvalue  %s\nbecomes %s\nwhich is refused: %v", c[0], c[1], out, f)
		}
	}
}

// A schema that exceeds the limits of providers is not strict.
// TestDropUnsetIsBounded checks that nested alternatives do not multiply the work.
func TestDropUnsetIsBounded(t *testing.T) {
	t.Parallel()
	for _, alternatives := range []string{`%s, {"type": "null"}`, `{"required": ["b"]}, %s`} {
		schema, value := `{"type": "object", "properties": {"a": {}}}`, `{"a": null}`
		for range 40 {
			schema = `{"type": "object", "properties": {"a": {"anyOf": [` + fmt.Sprintf(alternatives, schema) + `]}}}`
			value = `{"a": ` + value + `}`
		}
		s := compile(t, schema)
		start := time.Now()
		s.DropUnset([]byte(value))
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s took %v", alternatives, took)
		}
	}
}

func TestStrictLimits(t *testing.T) {
	t.Parallel()
	deep := `{"type":"string"}`
	for range 15 {
		deep = `{"type":"object","properties":{"a":` + deep + `},"required":["a"]}`
	}
	many := `"v"`
	for i := range 1500 {
		many += fmt.Sprintf(`,"v%d"`, i)
	}
	for name, raw := range map[string]string{
		"15 levels":   deep,
		"1501 values": `{"type":"object","properties":{"a":{"type":"string","enum":[` + many + `]}},"required":["a"]}`,
	} {
		s, err := schema.Compile(json.RawMessage(raw))
		if err != nil {
			t.Fatal(name, err)
		}
		if _, ok := s.Strict(); ok {
			t.Errorf("%s are sent", name)
		}
	}
}
