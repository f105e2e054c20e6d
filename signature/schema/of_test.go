package schema_test

import (
	"encoding/json"
	"math/big"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/invopop/jsonschema"

	"github.com/writ-go/writ/signature/schema"
)

type (
	inner struct {
		A int     `json:"a"`
		B *string `json:"b" jsonschema:"enum=x,enum=y"`
	}
	base struct {
		Name string `json:"name"`
		Deep string `json:"deep,omitempty"`
	}
	shadowing struct {
		Name int `json:"name"`
		base
	}
	described struct {
		Limit int      `json:"limit" jsonschema:"minimum=1,maximum=100,default=20,description=How many\\, at most."`
		Mood  string   `json:"mood,omitempty" jsonschema:"enum=good,enum=bad" jsonschema_description:"The mood."`
		Tags  []string `json:"tags,omitzero" jsonschema:"minItems=1,pattern=^a"`
	}
	left struct {
		Same string
		L    int
	}
	right struct {
		Same string
		R    int
	}
	conflicting struct {
		left
		right
	}
	color struct{ R uint8 }
	tree  struct {
		Children []*tree
	}
	forest struct{ Tree map[string]tree }
	hidden struct {
		Kept   int `json:",omitempty"`
		Gone   int `json:"-"`
		Text   int `json:"text,string"`
		secret int //nolint:unused // that it is unexported is the point
	}
	aliased struct {
		A time.Time
		B time.Duration
		C json.RawMessage
		D any
		E []byte
		F big.Int
		G netip.Addr
		H json.Number
		I color
		J [2]bool
		K map[int]string
		L *inner `json:"l"`
	}
)

// JSONSchema implements the interface of invopop/jsonschema.
func (*color) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Version: "x", Type: "string", Description: "As #rrggbb."}
}

func TestOf(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		of   reflect.Type
		want string
	}{
		{"scalar", reflect.TypeFor[uint16](), `{"type":"integer","maximum":65535,"minimum":0}`},
		{"large scalar", reflect.TypeFor[uint](), `{"type":"integer","minimum":0}`},
		{"small signed", reflect.TypeFor[[]int8](), `{"items":{"type":"integer","maximum":127,"minimum":-128},` +
			`"type":"array"}`},
		{"small fraction", reflect.TypeFor[float32](), `{"type":"number","maximum":3402823466385288598117041834845169254` +
			`40,"minimum":-340282346638528859811704183484516925440}`},
		{"nested", reflect.TypeFor[[]inner](), `{"items":{"properties":{"a":{"type":"integer"},` +
			`"b":{"anyOf":[{"type":"string","enum":["x","y"]},{"type":"null"}]}},"additionalProperties":false,` +
			`"type":"object","required":["a"]},"type":"array"}`},
		{"no fields", reflect.TypeFor[struct{}](), `{"properties":{},"additionalProperties":false,"type":"object"}`},
		{"embedded", reflect.TypeFor[shadowing](), `{"properties":{"name":{"type":"integer"},"deep":{"type":"string"}},` +
			`"additionalProperties":false,"type":"object","required":["name"]}`},
		{"conflict", reflect.TypeFor[conflicting](), `{"properties":{"L":{"type":"integer"},"R":{"type":"integer"}},` +
			`"additionalProperties":false,"type":"object","required":["L","R"]}`},
		{"tags", reflect.TypeFor[described](), `{"properties":{"limit":{"type":"integer","maximum":100,"minimum":1,` +
			`"description":"How many, at most.","default":20},"mood":{"type":"string","enum":["good","bad"],` +
			`"description":"The mood."},"tags":{"items":{"type":"string","pattern":"^a"},"type":"array","minItems":1}},` +
			`"additionalProperties":false,"type":"object"}`},
		{"json tags", reflect.TypeFor[hidden](), `{"properties":{"Kept":{"type":"integer"},"text":{"type":"string"}},` +
			`"additionalProperties":false,"type":"object","required":["text"]}`},
		{"special types", reflect.TypeFor[aliased](), `{"properties":{"A":{"type":"string","format":"date-time"},` +
			`"B":{"type":"integer","format":"nanoseconds"},"C":true,"D":true,"E":{"type":"string",` +
			`"contentEncoding":"base64"},"F":{"type":"integer"},"G":{"type":"string"},"H":{"type":"number"},` +
			`"I":{"type":"string","description":"As #rrggbb."},"J":{"items":{"type":"boolean"},"type":"array","maxItems":2,` +
			`"minItems":2},"K":{"additionalProperties":{"type":"string"},"type":"object"},` +
			`"l":{"anyOf":[{"properties":{"a":{"type":"integer"},"b":{"anyOf":[{"type":"string","enum":["x","y"]},` +
			`{"type":"null"}]}},"additionalProperties":false,"type":"object","required":["a"]},{"type":"null"}]}},` +
			`"additionalProperties":false,"type":"object","required":["A","B","C","D","E","F","G","H","I","J","K"]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := schema.Of(test.of)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(s.Raw()); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestOfErrors(t *testing.T) {
	t.Parallel()
	type events struct{ Done chan int }
	tests := []struct {
		name string
		of   reflect.Type
		want string
	}{
		{"nil", nil, `a nil type has no schema`},
		{"root", reflect.TypeFor[func()](), `type func() cannot be encoded as JSON`},
		{"recursive", reflect.TypeFor[forest](), `field "Tree.Children": type schema_test.tree is recursive; use ` +
			`json.RawMessage, or give the type a JSONSchema method`},
		{"channel", reflect.TypeFor[struct{ E []events }](),
			`field "E.Done": type chan int cannot be encoded as JSON; leave the field out with json:"-"`},
		{"complex", reflect.TypeFor[struct{ C complex64 }](),
			`field "C": type complex64 cannot be encoded as JSON; leave the field out with json:"-"`},
		{"interface", reflect.TypeFor[struct{ E error }](),
			`field "E": type error cannot be encoded as JSON; leave the field out with json:"-"`},
		{"keys", reflect.TypeFor[struct{ M map[float64]int }](), `field "M": type map[float64]int has keys that cannot ` +
			`be encoded as JSON; use string keys`},
		{"hidden from the schema", reflect.TypeFor[struct {
			A int `jsonschema:"-"`
		}](), `field "A": type int is in the JSON, but its tags exclude it from the schema; use json:"-"`},
		{"called -", reflect.StructOf([]reflect.StructField{{Name: "A", Type: reflect.TypeFor[int](), Tag: `json:"-,"`}}),
			`field "-": type int is in the JSON, but its tags exclude it from the schema; use json:"-"`},
		{"bad pattern", reflect.TypeFor[struct {
			P string `jsonschema:"pattern=("`
		}](), "field \"P\": jsonschema tag: the pattern \"(\" does not compile: error parsing regexp: missing closing ) " +
			"in `(`"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := schema.Of(test.of)
			checkError(t, err, test.want)
		})
	}
}

func TestOfChecksFormats(t *testing.T) {
	t.Parallel()
	s, err := schema.Of(reflect.TypeFor[time.Time]())
	if err != nil {
		t.Fatal(err)
	}
	checkLines(t, s.Validate([]byte(`"tomorrow"`)), []string{`the value must be a date-time such as ` +
		`2026-01-31T15:04:05Z, not "tomorrow"`})
}

func TestEncode(t *testing.T) {
	t.Parallel()
	type part struct{ Items []string }
	type order struct {
		Z     []part
		Y     map[string][]int
		X     []byte
		W     *part `json:"w"`
		V     any
		Empty []int `json:",omitempty"`
	}
	tests := []struct {
		name  string
		value order
		want  string
	}{
		{"nil", order{}, `{"Z":[],"Y":{},"X":"","w":null,"V":null}`},
		{"nested", order{Z: []part{{}, {[]string{"<&>\u2028"}}}, Y: map[string][]int{"a": nil}, W: &part{}, V: []any{nil, 1}},
			`{"Z":[{"Items":[]},{"Items":["<&>\u2028"]}],"Y":{"a":[]},"X":"","w":{"Items":[]},"V":[null,1]}`},
	}
	s, err := schema.Of(reflect.TypeFor[order]())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := s.Encode(&test.value)
			if err != nil || string(got) != test.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, test.want)
			}
			checkLines(t, s.Validate(got), nil)
		})
	}
	_, err = s.Encode(map[string]any{"a": func() {}})
	checkError(t, err, `cannot encode map[string]interface {}: json: unsupported type: func()`)
}
