package signature_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/signature/schema"
)

type (
	none struct{}

	question struct {
		Text  string   `json:"text" jsonschema:"minLength=1,description=What is asked."`
		Tags  []string `json:"tags"`
		Limit *int     `json:"limit"`
		Note  string   `json:"note,omitempty"`
	}
	answer struct {
		Big    int64            `json:"big"`
		Huge   uint64           `json:"huge,omitempty"`
		Small  int8             `json:"small,omitempty"`
		Mood   string           `json:"mood" jsonschema:"enum=good,enum=bad"`
		When   *time.Time       `json:"when"`
		Counts map[string][]int `json:"counts,omitempty"`
		Any    any              `json:"any,omitempty"`
		Raw    json.RawMessage  `json:"raw,omitempty"`
		Bytes  []byte           `json:"bytes,omitempty"`
	}
	tree     struct{ Children []tree }
	withTree struct{ Tree tree }
	text     struct{ V string }
	dashed   struct {
		V string `json:"customer-id"`
	}
	keyword struct {
		V string `json:"class"`
	}
)

func (text) MarshalJSON() ([]byte, error) { return []byte(`"x"`), nil }

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("got error  %v\nwant error %s", err, want)
	}
}

type misruled struct {
	Count int `json:"count" jsonschema:"maxLength=3"`
}

const ownEncoding = `type has its own JSON encoding (for example MarshalJSON, possibly promoted from an embedded ` +
	`type), so its fields are unknown; use a plain struct, and give embedded types a field name`

func newError[In, Out any]() error {
	_, err := signature.New[In, Out]("Do it.")
	return err
}

func TestNewErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"recursive", newError[withTree, answer](), `signature: input field "Tree.Children": type signature_test.tree ` +
			`is recursive; use json.RawMessage, or give the type a JSONSchema method`},
		{"unsupported", newError[none, struct{ C chan int }](),
			`signature: output field "C": type chan int cannot be encoded as JSON; leave the field out with json:"-"`},
		{"pointer", newError[*question, answer](), `signature: input type is the pointer *signature_test.question; use ` +
			`the struct signature_test.question`},
		{"not a struct", newError[question, string](), `signature: output type is string; use a struct with a field for ` +
			`each value`},
		{"interface", newError[question, any](), `signature: output type is interface {}; use a struct with a field for ` +
			`each value`},
		{"own encoding", newError[text, answer](), "signature: input " + ownEncoding},
		{"inherited encoding", newError[none, struct {
			time.Time
			Note string
		}](), "signature: output " + ownEncoding},
		{"no output", newError[question, none](), `signature: no output field; add one`},
		{"not an identifier", newError[dashed, answer](), `signature: input field "customer-id": the name is not a ` +
			`JavaScript identifier; use letters, digits and _`},
		{"reserved", newError[none, keyword](), `signature: output field "class": the name is reserved in JavaScript; ` +
			`choose another`},
		{"tag", newError[none, misruled](), `signature: output field "count": jsonschema tag: the rule maxLength does ` +
			`not apply to int; use one of minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf, enum, ` +
			`default, example, title, description, required, nullable`},
		{"format", newError[struct {
			Day string `json:"day" jsonschema:"format=dat"`
		}, answer](), `signature: input field "day": jsonschema tag: unknown format "dat"; did you mean date?`},
		{"both ways", newError[question, question](), `signature: output field "text": an input field has the same ` +
			`name; rename one`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			checkError(t, test.err, test.want)
		})
	}
}

func TestMustPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	signature.Must(signature.New[question, none]("Do it."))
}

func TestSpecOfStructs(t *testing.T) {
	t.Parallel()
	spec := signature.Must(signature.New[question, answer]("Answer.")).Spec()
	var got []string
	for _, f := range append(spec.Inputs(), spec.Outputs()...) {
		line := f.Name + " " + f.Schema.TypeScript(nil)
		if f.Required {
			line += " required"
		}
		got = append(got, strings.TrimSpace(line+" "+f.Description))
	}
	want := []string{
		"text string required What is asked.", "tags string[] required", "limit number | null", "note string",
		"big number required", "huge number", "small number", `mood "good" | "bad" required`, "when string | null",
		"counts Record<string, number[]>", "any unknown", "raw unknown", "bytes string",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	const ts = `{text: string /* ≥ 1 character. What is asked. */; tags: string[]; limit?: number | null /* ` +
		`integer */; note?: string}`
	if got := spec.InputSchema().TypeScript(nil); got != ts {
		t.Errorf("got  %s\nwant %s", got, ts)
	}
}

func TestWithInstructionsCopies(t *testing.T) {
	t.Parallel()
	s := signature.Must(signature.New[question, answer]("Answer."))
	edited := s.WithInstructions("Answer briefly.")
	if s.Spec().Instructions() != "Answer." || edited.Spec().Instructions() != "Answer briefly." {
		t.Errorf("got %q and %q", s.Spec().Instructions(), edited.Spec().Instructions())
	}
}

func TestFieldsAreCopies(t *testing.T) {
	t.Parallel()
	spec := signature.Must(signature.New[question, answer]("Answer.")).Spec()
	spec.Inputs()[0].Name = "changed"
	if got := spec.Inputs()[0].Name; got != "text" {
		t.Errorf("got %s", got)
	}
}

func TestEncode(t *testing.T) {
	t.Parallel()
	s := signature.Must(signature.New[question, answer]("Answer."))
	values, err := s.Encode(question{Text: "a < b?"})
	if err != nil {
		t.Fatal(err)
	}
	want := signature.Values{
		{Name: "text", JSON: json.RawMessage(`"a < b?"`)},
		{Name: "tags", JSON: json.RawMessage(`[]`)},
		{Name: "limit", JSON: json.RawMessage(`null`)},
	}
	if !reflect.DeepEqual(values, want) {
		t.Errorf("got %s", values)
	}
	_, err = s.Encode(question{})
	checkError(t, err, `signature: input: text must have at least 1 character, not 0`)
	if invalid := (*signature.InvalidError)(nil); !errors.As(err, &invalid) {
		t.Errorf("%T is not an InvalidError", err)
	}
}

func TestEncodeOfNothing(t *testing.T) {
	t.Parallel()
	values, err := signature.Must(signature.New[none, answer]("Answer.")).Encode(none{})
	if err != nil || len(values) != 0 {
		t.Errorf("got %v, %v", values, err)
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	s := signature.Must(signature.New[question, answer]("Answer."))
	got, err := s.Decode([]byte(`{"big": 9007199254740993, "huge": 18446744073709551615, "mood": "good", "when": ` +
		`"2026-01-31T15:04:05Z", "counts": {"a": [1]}, "any": [9007199254740993], "raw": {"x": 1}, "bytes": "aGk="}`))
	if err != nil {
		t.Fatal(err)
	}
	when := time.Date(2026, 1, 31, 15, 4, 5, 0, time.UTC)
	want := answer{
		Big: 9007199254740993, Huge: 18446744073709551615, Mood: "good", When: &when,
		Counts: map[string][]int{"a": {1}}, Any: []any{json.Number("9007199254740993")},
		Raw: json.RawMessage(`{"x": 1}`), Bytes: []byte("hi"),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestDecodeErrors(t *testing.T) {
	t.Parallel()
	s := signature.Must(signature.New[question, answer]("Answer."))
	tests := []struct{ name, output, want string }{
		{"not JSON", `good`, `the value is not valid JSON: invalid character 'g' looking for beginning of value (byte 1)`},
		{"null", `null`, `the value must be an object, not null`},
		{"all at once", `{"mod": "good", "big": "1", "when": "now"}`, "big must be an integer, not \"1\"\n" +
			"mood is required\nwhen must be a date-time such as 2026-01-31T15:04:05Z, not \"now\"\nmod is not a known " +
			"property (did you mean mood?)"},
		{"overflow", `{"big": 1, "mood": "bad", "small": 300}`, `small must be at most 127, not 300`},
		{"overflow of 64 bits", `{"big": 9223372036854775808, "mood": "bad"}`, `big does not fit the Go type int64: ` +
			`number 9223372036854775808`},
		{"negative", `{"big": 1, "mood": "bad", "huge": -1}`, `huge must be at least 0, not -1`},
		{"base64", `{"big": 1, "mood": "bad", "bytes": "%"}`,
			`bytes cannot be decoded: illegal base64 data at input byte 0`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			out, err := s.Decode([]byte(test.output))
			checkError(t, err, test.want)
			if invalid := (*signature.InvalidError)(nil); !errors.As(err, &invalid) {
				t.Errorf("%T is not an InvalidError", err)
			}
			if !reflect.DeepEqual(out, answer{}) {
				t.Errorf("got %+v with the error", out)
			}
		})
	}
}

func mustCompile(t *testing.T, raw string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNewSpec(t *testing.T) {
	t.Parallel()
	list := mustCompile(t, `{"type": "array", "items": {"$ref": "#/$defs/item"}, "$defs": {"item": {"type": "integer"}}}`)
	spec, err := signature.NewSpec("Count.", []signature.Field{{Name: "anything"}}, []signature.Field{
		{Name: "z", Description: "First.", Schema: list, Required: true},
		{Name: "a", Schema: list},
		{Name: "b", Description: "Whatever.", Schema: mustCompile(t, `true`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{z: number[] /* each integer. First. */; a?: number[] /* each integer */; b?: unknown /* Whatever. */}`
	if got := spec.OutputTypeScript(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var got []string
	for _, f := range spec.Validate([]byte(`{"a": [1, "x"], "c": 1}`)) {
		got = append(got, f.String())
	}
	wantLines := []string{`z is required`, `a[1] must be an integer, not "x"`, `c is not a known property ` +
		`(other properties: b, z)`}
	if !slices.Equal(got, wantLines) {
		t.Errorf("got  %q\nwant %q", got, wantLines)
	}
	if got := spec.Inputs()[0].Schema.TypeScript(nil); got != "unknown" {
		t.Errorf("got %s", got)
	}
}

// A field accepts the same values as its schema alone.
func TestSchemasOfTheirOwn(t *testing.T) {
	t.Parallel()
	tests := []struct{ schema, value string }{
		{`{"$schema": "http://json-schema.org/draft-07/schema#", "prefixItems": [{"type": "integer"}]}`, `["x"]`},
		{`{"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "integer"}], "additionalItems": false}`,
			`[1, 2]`},
		{`{"$dynamicAnchor": "n", "properties": {"c": {"$dynamicRef": "#n"}, "n": {"type": "integer"}}}`,
			`{"c": {"n": "x"}}`},
		{`{"\u0024ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}}`, `"x"`},
		{`{"$id": "https://example.com/a", "$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}}`, `"x"`},
		{`{"$id": "https://example.com/a", "$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}}`, `1`},
	}
	for _, test := range tests {
		s := mustCompile(t, test.schema)
		spec, err := signature.NewSpec("", nil, []signature.Field{{Name: "x", Schema: s}, {Name: "y", Schema: s}})
		if err != nil {
			t.Errorf("%s: %v", test.schema, err)
			continue
		}
		alone, within := s.Validate([]byte(test.value)), spec.Validate([]byte(`{"x":`+test.value+`}`))
		if (alone == nil) != (within == nil) {
			t.Errorf("%s: alone %v, in a spec %v", test.schema, alone, within)
		}
	}
}

func TestNewSpecErrors(t *testing.T) {
	t.Parallel()
	field := func(names ...string) []signature.Field {
		var all []signature.Field
		for _, name := range names {
			all = append(all, signature.Field{Name: name})
		}
		return all
	}
	tests := []struct {
		name            string
		inputs, outputs []signature.Field
		want            string
	}{
		{"no output", field("a"), nil, `signature: no output field; add one`},
		{"empty name", nil, field(""), `signature: output field "": the name is empty`},
		{"twice", nil, field("a", "a"), `signature: output field "a": an output field has the same name; rename one`},
		{"both ways", field("a"), field("a"), `signature: output field "a": an input field has the same name; rename one`},
		{"reserved", field("await"), field("a"), `signature: input field "await": the name is reserved in JavaScript; ` +
			`choose another`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := signature.NewSpec("Do it.", test.inputs, test.outputs)
			checkError(t, err, test.want)
		})
	}
}

// Findings are in the order of the fields; those about the whole value come first.
func TestFindingsInTheOrderOfTheFields(t *testing.T) {
	t.Parallel()
	spec := signature.Must(signature.Parse(`question, context: list[str] -> z, y: {b, a}, x: int with `+
		`schema({"minProperties": 4})`, "")).Spec()
	_, err := spec.Encode(nil)
	checkError(t, err, "signature: input: question is required\ncontext is required")
	_, err = spec.Decode([]byte(`{"x": "1", "y": {"c": 1}, "w": 0}`))
	checkError(t, err, "the value must have at least 4 properties, not 3\nz is required\ny.a is required\ny.b is "+
		"required\n"+
		"y.c is not a known property (known: a, b)\nx must be an integer, not \"1\"\nw is not a known property "+
		"(other properties: z)")
}

type dated struct {
	Day time.Time `json:"day"`
}

// A time.Time accepts a date where the signature says that it is one, also if only the spec says so.
func TestDates(t *testing.T) {
	t.Parallel()
	spec, err := signature.Parse("day: date -> next: date, all: list[date]", "")
	if err != nil {
		t.Fatal(err)
	}
	type days struct {
		Next *time.Time  `json:"next"`
		All  []time.Time `json:"all" jsonschema:"format=date"`
	}
	s, err := signature.Typed[dated, days](spec.Spec())
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 4, 2, 0, 0, 0, 0, time.UTC)
	const raw = `{"next":"2026-04-02","all":["2026-04-02"]}`
	out, err := s.Decode([]byte(raw))
	if err != nil || !reflect.DeepEqual(out, days{&day, []time.Time{day}}) {
		t.Errorf("got %+v, %v", out, err)
	}
	turn, err := s.Turn(dated{day.Add(time.Hour)}, out)
	if err != nil || turn.String() != `{"day":"2026-04-02",`+raw[1:] {
		t.Errorf("got %v, %v", turn, err)
	}
	if got, err := signature.Get[time.Time](turn, "next"); err != nil || got != day {
		t.Errorf("got %v, %v", got, err)
	}
	_, err = s.Decode([]byte(`{"next":"2026-04-02T00:00:00Z","all":["2026-02-30"]}`))
	checkError(t, err, "next must be a date such as 2026-01-31, not \"2026-04-02T00:00:00Z\"\n"+
		"all[0] must be a date such as 2026-01-31, not \"2026-02-30\"")
	_, err = signature.Must(signature.New[none, dated]("")).Decode([]byte(`{"day":"2026-04-02"}`))
	checkError(t, err, `day must be a date-time such as 2026-01-31T15:04:05Z, not "2026-04-02"`)
}
