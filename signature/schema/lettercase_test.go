package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/signature/schema"
)

func TestOtherCase(t *testing.T) {
	t.Parallel()
	const file = `{"properties":{"path":{"type":"string"},"mode":{}}}`
	for _, c := range []struct {
		schema, value string
		levels        int
		want          string
	}{
		{file, `{"path":"a","other":1}`, 0, ""},
		{file, `{"path":"a","Path":"b"}`, 0, "Path is not a known property (did you mean path?)"},
		{file, `{"PATH":"b","Mode":1}`, 0, "Mode is not a known property (did you mean mode?); PATH is not a known " +
			"property (did you mean path?)"},
		{`{"properties":{"path":{},"Path":{}}}`, `{"path":"a","Path":"b"}`, 0, ""},
		{`{"properties":{"kelvin":{},"straße":{}}}`, "{\"\u212aelvin\":1,\"stra\u1e9ee\":2}", 0,
			"stra\u1e9ee is not a known property (did you mean straße?); \u212aelvin is not a known property (did you " +
				"mean kelvin?)"},
		{`{"properties":{"file":` + file + `}}`, `{"file":{"Path":"b"}}`, 0, "file.Path is not a known property (did " +
			"you mean path?)"},
		{`{"properties":{"file":` + file + `}}`, `{"file":{"Path":"b"}}`, 1, ""},
		{`{"properties":{"files":{"items":` + file + `}}}`, `{"files":[{"path":"a"},{"Path":"b"}]}`, 0,
			"files[1].Path is not a known property (did you mean path?)"},
		{`{"properties":{"files":{"prefixItems":[` + file + `]}}}`, `{"files":[{"Path":"b"}]}`, 0,
			"files[0].Path is not a known property (did you mean path?)"},
		{`{"$ref":"#/$defs/f","$defs":{"f":{"anyOf":[{"type":"null"},` + file + `],"properties":{"next":{"$ref":"#/$defs` +
			`/f"}}}}}`,
			`{"next":{"next":{"Path":"b","Next":null}}}`, 0,
			"next.next.Next is not a known property (did you mean next?); next.next.Path is not a known property (did you " +
				"mean path?)"},
		{`{"additionalProperties":` + file + `}`, `{"Path":{"Path":1}}`, 0, "Path.Path is not a known property (did you " +
			"mean path?)"},
		{`{"patternProperties":{"^x":` + file + `}}`, `{"x":{"Path":1}}`, 0, "x.Path is not a known property (did you " +
			"mean path?)"},
		{file, `["Path"]`, 0, ""},
		{file, `{`, 0, "the value is not valid JSON: unexpected end of JSON input (byte 1)"},
	} {
		s, err := schema.Compile([]byte(c.schema))
		if err != nil {
			t.Fatal(err)
		}
		if got := schema.Summary(s.OtherCase(json.RawMessage(c.value), c.levels)); got != c.want {
			t.Errorf("%s: %s\ngot  %s\nwant %s", c.schema, c.value, got, c.want)
		}
	}
}

// A value with too many names is refused, not accepted unchecked.
func TestOtherCaseIsBounded(t *testing.T) {
	t.Parallel()
	var names, items []string
	for i := range 3000 {
		names = append(names, fmt.Sprintf(`"p%d":{}`, i))
		items = append(items, `{"x":1}`)
	}
	s, err := schema.Compile([]byte(`{"items":{"properties":{` + strings.Join(names, ",") + `}}}`))
	if err != nil {
		t.Fatal(err)
	}
	got := schema.Summary(s.OtherCase([]byte("["+strings.Join(items, ",")+"]"), 0))
	if got != "the value has too many names to compare them with the schema" {
		t.Error(got)
	}
}
