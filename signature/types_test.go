package signature_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"

	"github.com/writ-go/writ/signature"
)

type (
	mood  string
	level int
	// celsius has its own JSON encoding.
	celsius float64
	// color is encoded as text.
	color struct{ R, G, B uint8 }

	base struct {
		ID   int64  `json:"id"`
		Kind string `json:"kind"` // hidden by the field Kind of everything
	}
	page[T any] struct {
		Items []T  `json:"items"`
		Next  *int `json:"next"`
	}
	everything struct {
		base
		*Named
		Kind     mood                      `json:"kind"`
		Level    level                     `json:"level"`
		Some     mood                      `json:"some" jsonschema:"enum=good"`
		Moods    []mood                    `json:"moods"`
		Flag     bool                      `json:"flag"`
		Small    int8                      `json:"small"`
		Big      int64                     `json:"big"`
		Huge     uint64                    `json:"huge"`
		Ratio    float64                   `json:"ratio"`
		Exact    json.Number               `json:"exact"`
		Beyond   *big.Int                  `json:"beyond"`
		Text     string                    `json:"text"`
		Quoted   int                       `json:"quoted,string"`
		Bytes    []byte                    `json:"bytes"`
		Raw      json.RawMessage           `json:"raw"`
		Any      any                       `json:"any"`
		Time     time.Time                 `json:"time"`
		Pause    time.Duration             `json:"pause"`
		Temp     celsius                   `json:"temp"`
		Color    color                     `json:"color"`
		Addr     netip.Addr                `json:"addr"`
		Empty    struct{}                  `json:"empty"`
		Array    [3]bool                   `json:"array"`
		Nested   map[string][]map[int]bool `json:"nested"`
		ByColor  map[color]int             `json:"by_color"`
		Page     page[page[string]]        `json:"page"`
		Pointer  *string                   `json:"pointer"`
		Pointers **int                     `json:"pointers"`
		NilSlice []string                  `json:"nil_slice"`
		NilMap   map[string]int            `json:"nil_map"`
		Left     *string                   `json:"left,omitempty"`
		Zero     time.Time                 `json:"zero,omitzero"`
		Hidden   chan int                  `json:"-"`
	}
	// Named is exported because encoding/json cannot set unexported fields.
	Named struct {
		Name string `json:"name,omitempty"`
	}
	done struct {
		Done bool `json:"done"`
	}
)

func (mood) Enum() []mood   { return []mood{"good", "bad", "good"} }
func (level) Enum() []level { return []level{low, high} }

const (
	low level = iota
	high
)

func (l level) MarshalText() ([]byte, error) { return []byte([]string{"low", "high"}[l]), nil }

func (l *level) UnmarshalText(text []byte) error {
	*l = low
	if string(text) == "high" {
		*l = high
	}
	return nil
}

func (c celsius) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, `"%v °C"`, float64(c)), nil }

func (c *celsius) UnmarshalJSON(raw []byte) error {
	_, err := fmt.Sscanf(string(raw), `"%g °C"`, (*float64)(c))
	return err
}

func (c color) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "#%02x%02x%02x", c.R, c.G, c.B), nil
}

func (c *color) UnmarshalText(text []byte) error {
	if _, err := fmt.Sscanf(string(text), "#%02x%02x%02x", &c.R, &c.G, &c.B); err != nil {
		return errors.New("a color is written like #00ff00")
	}
	return nil
}

const everythingJSON = `{"id":9007199254740993,"name":"n","kind":"good","level":"high","some":"good",` +
	`"moods":["bad"],"flag":true,"small":-128,` +
	`"big":-9223372036854775808,"huge":18446744073709551615,"ratio":0.1,"exact":1.000000000000000000001,` +
	`"beyond":123456789012345678901234567890,` +
	`"text":"<é&\">","quoted":"7","bytes":"aGk=","raw":{"x":9007199254740993},"any":{"n":9007199254740993},` +
	`"time":"2026-01-31T15:04:05.5+01:00",` +
	`"pause":90000000000,"temp":"21.5 °C","color":"#01ff00","addr":"::1","empty":{},"array":[true,false,true],` +
	`"nested":{"a":[{"-1":true}]},` +
	`"by_color":{"#000001":1},"page":{"items":[{"items":["x"],"next":1}],"next":null},"pointer":null,"pointers":5,` +
	`"nil_slice":[],"nil_map":{}}`

func some[T any](v T) *T { return &v }

func TestEveryTypeGoesThrough(t *testing.T) {
	t.Parallel()
	beyond, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	value := everything{
		base: base{ID: 1<<53 + 1}, Named: &Named{"n"}, Kind: "good", Level: high, Some: "good", Moods: []mood{"bad"},
		Flag: true, Small: -128,
		Big: math.MinInt64, Huge: math.MaxUint64, Ratio: 0.1, Exact: "1.000000000000000000001", Beyond: beyond,
		Text: `<é&">`, Quoted: 7, Bytes: []byte("hi"), Raw: json.RawMessage(`{"x":9007199254740993}`),
		Any:  map[string]any{"n": json.Number("9007199254740993")},
		Time: time.Date(2026, 1, 31, 15, 4, 5, 5e8, time.FixedZone("", 3600)), Pause: 90 * time.Second, Temp: 21.5,
		Color: color{1, 255, 0},
		Addr:  netip.IPv6Loopback(), Array: [3]bool{true, false, true}, Nested: map[string][]map[int]bool{"a": {{-1: true}}},
		ByColor: map[color]int{{0, 0, 1}: 1}, Page: page[page[string]]{Items: []page[string]{{[]string{"x"}, some(1)}}},
		Pointers: some(some(5)),
		NilSlice: []string{}, NilMap: map[string]int{},
	}
	inputs := value
	inputs.NilSlice, inputs.NilMap = nil, nil
	values, err := signature.Must(signature.New[everything, done]("Do it.")).Encode(inputs)
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := values.MarshalJSON(); err != nil || string(raw) != everythingJSON {
		t.Errorf("got  %s, %v\nwant %s", raw, err, everythingJSON)
	}
	out, err := signature.Must(signature.New[done, everything]("Do it.")).Decode([]byte(everythingJSON))
	if err != nil {
		t.Fatal(err)
	}
	if !out.Time.Equal(value.Time) {
		t.Errorf("got %v, want %v", out.Time, value.Time)
	}
	out.Time = value.Time
	if !reflect.DeepEqual(out, value) {
		t.Errorf("got  %+v\nwant %+v", out, value)
	}
	checkRoundTrip(t, signature.Must(signature.New[everything, done]("Do it.")).Spec())
}

func TestWhatDoesNotFitAType(t *testing.T) {
	t.Parallel()
	s := signature.Must(signature.New[done, everything]("Do it."))
	tests := []struct{ old, wrong, want string }{
		{`"kind":"good"`, `"kind":"fine"`, `kind must be one of "good", "bad", not "fine"`},
		{`"some":"good"`, `"some":"bad"`, `some must be "good", not "bad"`},
		{`"level":"high"`, `"level":1`, `level must be a string, not 1`},
		{`"moods":["bad"]`, `"moods":["worse"]`, `moods[0] must be one of "good", "bad", not "worse"`},
		{`"small":-128`, `"small":-129`, `small must be at least -128, not -129`},
		{`"huge":18446744073709551615`, `"huge":18446744073709551616`, `huge does not fit the Go type uint64: ` +
			`number 18446744073709551616`},
		{`"pause":90000000000`, `"pause":"1m30s"`, `pause must be an integer, not "1m30s"`},
		{`"time":"2026`, `"time":"26`, `time must be a date-time such as 2026-01-31T15:04:05Z, not ` +
			`"26-01-31T15:04:05.5+01:00"`},
		{`"color":"#01ff00"`, `"color":"green"`, `color cannot be decoded: a color is written like #00ff00`},
		{`"array":[true,false,true]`, `"array":[true]`, `array must have at least 3 items, not 1`},
		{`"nil_slice":[]`, `"nil_slice":null`, `nil_slice must be an array, not null`},
		{`"empty":{}`, `"empty":{"a":1}`, `empty.a is not a known property`},
		{`"next":1}`, `"next":1.5}`, `page.items[0].next must be an integer or null, not 1.5`},
	}
	for _, test := range tests {
		t.Run(test.wrong, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(everythingJSON, test.old) {
				t.Fatalf("there is no %s", test.old)
			}
			_, err := s.Decode([]byte(strings.Replace(everythingJSON, test.old, test.wrong, 1)))
			checkError(t, err, test.want)
		})
	}
}

type (
	nothing  string
	hopeless string
)

func (nothing) Enum() []nothing { return nil }
func (hopeless) Enum() []any    { return []any{"a", func() {}} }

func TestEnumErrors(t *testing.T) {
	t.Parallel()
	checkError(t, newError[struct{ A nothing }, done](), `signature: input field "A": type signature_test.nothing `+
		`has a method Enum that returns no values`)
	checkError(t, newError[struct{ A hopeless }, done](), `signature: input field "A": type signature_test.hopeless `+
		`has a method Enum whose values cannot be encoded: json: unsupported type: func()`)
}

// form describes itself and admits further properties.
type form struct {
	Name string         `json:"name"`
	More map[string]any `json:"-"`
}

func (form) JSONSchema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), Required: []string{"name"}}
	s.Properties.Set("name", &jsonschema.Schema{Type: "string"})
	return s
}

func TestOpenStructs(t *testing.T) {
	t.Parallel()
	typed := signature.Must(signature.New[form, done]("Do it."))
	spec, err := typed.Spec().AppendInputs(signature.Field{Name: "last"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `name: str, last?: any with schema({"additionalProperties":true}) -> done: bool`
	if got := spec.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	checkRoundTrip(t, spec)
	values, err := spec.Encode(signature.Values{{Name: "x", JSON: []byte(`1`)}, {Name: "last"}, {Name: "name",
		JSON: []byte(
			`"n"`)}})
	if raw, _ := values.MarshalJSON(); err != nil || string(raw) != `{"name":"n","last":null,"x":1}` {
		t.Errorf("got %s, %v", raw, err)
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	type in struct {
		Text  string `json:"text"`
		Limit int    `json:"limit,omitempty" jsonschema:"default=20"`
		Plain int    `json:"plain" jsonschema:"default=20"`
	}
	type out struct {
		Answer string   `json:"answer"`
		Score  float64  `json:"score" jsonschema:"minimum=0,default=0.5"`
		Tags   []string `json:"tags,omitempty"`
		Deep   struct {
			Depth *int `json:"depth" jsonschema:"default=3"`
		} `json:"deep"`
	}
	s := signature.Must(signature.New[in, out]("Do it."))
	values, err := s.Encode(in{Text: "x"})
	if raw, _ := values.MarshalJSON(); err != nil || string(raw) != `{"text":"x","limit":20,"plain":0}` {
		t.Errorf("got %s, %v", raw, err)
	}
	got, err := s.Decode([]byte(`{"answer": "a", "deep": {}}`))
	want := out{Answer: "a", Score: 0.5}
	want.Deep.Depth = some(3)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if f, _ := s.Spec().Field("score"); f.Required {
		t.Error("score is required")
	}
	checkError(t, newError[done, struct {
		A int `jsonschema:"minimum=1,default=0"`
	}](), `signature: output field "A": jsonschema tag: the default must be at least 1, not 0`)
}

// A default that does not fit would be ignored silently.
func TestNestedDefaults(t *testing.T) {
	t.Parallel()
	type choosy struct {
		N string `json:"n" jsonschema:"enum=a,enum=b,default=zzz"`
	}
	type tiny struct {
		N int8 `json:"n" jsonschema:"default=300"`
	}
	fails := func(_ any, err error) error { return err }
	big := signature.Must(signature.Parse("-> n: int(default=300)", "")).Spec()
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"in a struct", newError[none, struct{ O choosy }](), `signature: output field "O.n": jsonschema tag: the ` +
			`default must be one of "a", "b", not "zzz"`},
		{"in a list", newError[struct{ O []choosy }, done](), `signature: input field "O.n": jsonschema tag: the ` +
			`default must be one of "a", "b", not "zzz"`},
		{"parsed", fails(signature.Parse(`-> o: {a: int(default="x")}`, "")), `signature: output field "o": the default ` +
			`at properties.a must be an integer, not "x"`},
		{"parsed, in a union", fails(signature.Parse(`-> o: int | {a: list[int](default=[1, "x"])}`, "")),
			`signature: output field "o": the default at anyOf[1].properties.a[1] must be an integer, not "x"`},
		{"too long", fails(signature.Parse(`-> o: str(default="`+strings.Repeat("x", 5000)+`")`, "")),
			`signature: output field "o": the default has 5002 bytes; the limit is 4096`},
		{"Go type", newError[none, tiny](), `signature: output field "n": jsonschema tag: the default must be at most ` +
			`127, not 300`},
		{"Go type of an input", newError[tiny, done](), `signature: input field "n": jsonschema tag: the default must ` +
			`be at most 127, not 300`},
		{"Go type in a struct", newError[none, struct{ O []*tiny }](), `signature: output field "O.n": jsonschema tag: ` +
			`the default must be at most 127, not 300`},
		{"Go type of another", fails(signature.Typed[none, struct {
			N int8 `json:"n"`
		}](big)), `signature: output field "n": the default does not fit the Go type int8: number 300`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			checkError(t, test.err, test.want)
		})
	}
	plain, err := signature.Typed[none, struct {
		N int16 `json:"n"`
	}](big)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := plain.Decode([]byte(`{}`)); err != nil || got.N != 300 {
		t.Errorf("got %+v, %v", got, err)
	}
}

type (
	// oneWay encodes as text, and does not decode.
	oneWay struct{ text string }
	inner  struct{ B int }
	named  struct {
		inner `json:"inside"`
		C     int
	}
)

func (o oneWay) MarshalText() ([]byte, error) { return []byte(o.text), nil }

func TestTypesThatOnlyEncode(t *testing.T) {
	t.Parallel()
	s := signature.Must(signature.New[struct {
		One oneWay
		Map map[oneWay]int
	}, done]("Read."))
	_, err := s.Encode(struct {
		One oneWay
		Map map[oneWay]int
	}{oneWay{"x"}, map[oneWay]int{{"y"}: 1}})
	if err != nil {
		t.Error(err)
	}
}

func TestNamedEmbeddedStructs(t *testing.T) {
	t.Parallel()
	s := signature.Must(signature.New[none, named]("Do it."))
	if got := s.String(); got != "-> inside: {B: int}, C: int" {
		t.Errorf("got %s", got)
	}
	want := named{inner{1}, 2}
	if got, err := s.Decode([]byte(`{"inside": {"B": 1}, "C": 2}`)); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
}
