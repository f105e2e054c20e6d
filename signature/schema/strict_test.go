package schema_test

import (
	"encoding/json"
	"reflect"
	"testing"

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

// Properties keep their order, all are required, and null stands for what may be missing.
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
		in(`{"const":"x"}`):                                                  out(`{"type":"string","enum":["x"]}`),
		in(`{"enum":["x",null]}`):                                            out(`{"anyOf":[{"type":"string","enum":["x"]},{"type":"null"}]}`),
		in(`{"oneOf":[{"type":"string"},{"type":"integer"}]}`):               out(`{"anyOf":[{"type":"string"},{"type":"integer"}]}`),
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
		`{"zeta":"z","alpha":[{"name":"n","count":null}],"mood":null,"score":1.50}`: `{"alpha":[{"count":null,"name":"n"}],"score":1.50,"zeta":"z"}`,
		`{"zeta":null,"alpha":[],"mood":"good","score":1}`:                          `{"alpha":[],"mood":"good","score":1,"zeta":null}`,
		`{"mood":null,"mood":"good"}`:                                               `{"mood":null,"mood":"good"}`,
		`{"zeta":"z"}`:                                                              `{"zeta":"z"}`,
		`null or not`:                                                               `null or not`,
	} {
		if got := string(s.DropUnset(json.RawMessage(given))); got != want {
			t.Errorf("%s: got %s, want %s", given, got, want)
		}
	}
}
