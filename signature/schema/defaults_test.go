package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/signature/schema"
)

func TestComplete(t *testing.T) {
	t.Parallel()
	const page = `{"properties":{"limit":{"type":"integer","default":20},"sort":{"enum":["a","<b>"],"default":"<b>"},` +
		`"q":{"type":"string"}}}`
	nested := `{"properties":{"page":` + page + `,"rows":{"items":` + page + `},"tuple":{"prefixItems":[` + page + `]}}}`
	tests := []struct{ name, schema, value, want string }{
		{"missing", page, `{ "q": "x" }`, `{"q":"x","limit":20,"sort":"<b>"}`},
		{"empty", page, `{}`, `{"limit":20,"sort":"<b>"}`},
		{"given", page, `{"sort":"a","limit":1}`, `{"sort":"a","limit":1}`},
		{"given, escaped", page, `{"\u006cimit":1,"sort":"a"}`, `{"\u006cimit":1,"sort":"a"}`},
		{"the order and the numbers are kept", page, `{"z":12345678901234567890.0,"sort":"a","a":[{"]":"\"}"}, -1e3 ]}`,
			`{"z":12345678901234567890.0,"sort":"a","a":[{"]":"\"}"},-1e3],"limit":20}`},
		{"nested", nested, `{"page":{"q":"x"},"rows":[{"limit":1},7,{}],"tuple":[{}]}`, `{"page":{"q":"x","limit":20,` +
			`"sort":"<b>"},"rows":[{"limit":1,"sort":"<b>"},7,{"limit":20,"sort":"<b>"}],"tuple":[{}]}`},
		{"nested, missing", nested, `{}`, `{}`},
		{"by reference",
			`{"properties":{"p":{"anyOf":[{"$ref":"#/$defs/p"},{"type":"null"}],"default":null}},"$defs":{"p":` + page + `}}`,
			`{"p":{}}`, `{"p":{"limit":20,"sort":"<b>"}}`},
		{"recursive", `{"$ref":"#/$defs/n","$defs":{"n":{"properties":{"v":{"default":1},"next":{"$ref":"#/$defs/n",` +
			`"default":{}}}}}}`, `{"next":{"v":2}}`, `{"next":{"v":2,"next":{}},"v":1}`},
		{"big integers", `{"properties":{"a":{"default":9007199254740993}}}`, `{}`, `{"a":9007199254740993}`},
		{"invalid", `{"properties":{"a":{"type":"integer","default":"x"},"b":{"default":false}}}`, `{}`, `{"b":false}`},
		{"no defaults within defaults", `{"allOf":[{"properties":{"x":{"properties":{"y":{"default":{}}}}}},` +
			`{"properties":{"x":{"properties":{"y":{"properties":{"z":{"default":1}}}}}}}]}`, `{"x":{}}`, `{"x":{"y":{}}}`},
		{"a stricter rule next to a reference", `{"properties":{"a":{"$ref":"#/$defs/x","minimum":5},"b":{"default":2}},` +
			`"$defs":{"x":{"type":"integer","default":3}}}`, `{}`, `{"b":2}`},
		{"null", `{"properties":{"a":{"default":null}}}`, `{}`, `{}`},
		{"an alternative", `{"anyOf":[{"properties":{"a":{"default":1}}},{"properties":{"b":{"default":2}}}]}`, `{}`, `{}`},
		{"would not fit", `{"properties":{"a":{},"b":{"default":2}},"oneOf":[{"required":["a"]},{"required":["b"]}]}`,
			`{"a":1}`, `{"a":1}`},
		{"too large", `{"properties":{"a":{"default":"` + strings.Repeat("x", 4<<10) + `"},"b":{"default":1}}}`, `{}`,
			`{"b":1}`},
		{"no object", page, `7`, `7`},
		{"none", `{"properties":{"a":{}}}`, `{}`, `{}`},
		{"a property called default", `{"properties":{"default":{"type":"string"}}}`, `{}`, `{}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := compile(t, test.schema).Complete([]byte(test.value)); string(got) != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestCheckDefaults(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"default":{"a":1},"properties":{"a":{"$ref":"#/$defs/n"},"b":{"type":"string",`+
		`"d\u0065fault":null},"c":{"default":{"x":[0]},"additionalProperties":{"items":{"type":"string"}}}},`+
		`"$defs":{"n":{"type":"string","default":7}}}`)
	checkLines(t, s.CheckDefaults(), []string{
		`the default.a must be a string, not 1`,
		`the default at $defs.n must be a string, not 7`,
		`the default at properties.c.x[0] must be a string, not 0`,
	})
	checkLines(t, compile(t, `{"type":"integer","d\u0065fault":"x"}`).CheckDefaults(),
		[]string{`the default must be an integer, not "x"`})
	checkLines(t, compile(t, `{"properties":{"default":{"type":"string"}}}`).CheckDefaults(), nil)
}

// The author of a value cannot make Complete add without limit.
func TestCompleteIsBounded(t *testing.T) {
	t.Parallel()
	var properties []string
	for i := range 30 {
		properties = append(properties, fmt.Sprintf(`"p%d":{"default":"%s"}`, i, strings.Repeat("x", 4000)))
	}
	s := compile(t, `{"items":{"properties":{`+strings.Join(properties, ",")+`}}}`)
	value := "[{}" + strings.Repeat(",{}", 100_000) + "]"
	if got := s.Complete([]byte(value)); string(got) != value {
		t.Errorf("%d bytes became %d", len(value), len(got))
	}
	s = compile(t, filters[:len(filters)-1]+`,"properties":{"a":{"$ref":"#/$defs/f","default":`+nested(20, "or",
		"1")+`}}}`)
	s.Complete([]byte(`{}`))
	s = compile(t, `{"$ref":"#/$defs/n","$defs":{"n":{"allOf":[{"$ref":"#/$defs/m"},{"$ref":"#/$defs/m"}]},
		"m":{"properties":{"a":{"$ref":"#/$defs/n"},"b":{"default":1}}}}}`)
	value = strings.Repeat(`{"a":`, 50) + "{}" + strings.Repeat("}", 50)
	if got := s.Complete([]byte(value)); string(got) != value { // it takes too many steps
		t.Errorf("%s became %s", value, got)
	}
}

func FuzzComplete(f *testing.F) {
	f.Add([]byte(`{"properties":{"a":{"default":1,"properties":{"b":{"default":"x"}}},"c":{"items":{"$ref":"#"}}}}`),
		[]byte(
			`{"a": {}, "c": [ {"b":[]}, true,"]" ]}`))
	f.Fuzz(func(t *testing.T, raw, value []byte) {
		s, err := schema.Compile(raw)
		if err != nil || s.Validate(value) != nil {
			return
		}
		full := s.Complete(value)
		if !json.Valid(full) || s.Validate(full) != nil {
			t.Errorf("%s became %s", value, full)
		}
	})
}
