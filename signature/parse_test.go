package signature_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/signature"
)

// types are ways to write a type, how they are written back (if otherwise), and
// their schemas.
var types = []struct{ text, written, schema string }{
	{"str", "", `{"type":"string"}`},
	{"string", "str", `{"type":"string"}`},
	{"int", "", `{"type":"integer"}`},
	{"integer", "int", `{"type":"integer"}`},
	{"float", "", `{"type":"number"}`},
	{"number", "float", `{"type":"number"}`},
	{"bool", "", `{"type":"boolean"}`},
	{"boolean", "bool", `{"type":"boolean"}`},
	{"None", "", `{"type":"null"}`},
	{"any", "", `true`},
	{"typing.Any", "any", `true`},
	{"bytes", "", `{"type":"string","contentEncoding":"base64"}`},
	{"date", "", `{"type":"string","format":"date"}`},
	{"datetime.datetime", "datetime", `{"type":"string","format":"date-time"}`},
	{"time", "", `{"type":"string","format":"time"}`},
	{"list", "", `{"type":"array"}`},
	{"list[ str ]", "list[str]", `{"type":"array","items":{"type":"string"}}`},
	{"List[list[any]]", "list[list[any]]", `{"type":"array","items":{"type":"array","items":true}}`},
	{"set[int]", "", `{"type":"array","items":{"type":"integer"},"uniqueItems":true}`},
	{"tuple[str, int]", "", `{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"minItems":2,` +
		`"maxItems":2}`},
	{"tuple[str, ...]", "list[str]", `{"type":"array","items":{"type":"string"}}`},
	{"dict", "", `{"type":"object"}`},
	{"object", "dict", `{"type":"object"}`},
	{"dict[str, float]", "", `{"type":"object","additionalProperties":{"type":"number"}}`},
	{"Dict[string, any]", "dict[str, any]", `{"type":"object","additionalProperties":true}`},
	{"int | None", "", `{"anyOf":[{"type":"integer"},{"type":"null"}]}`},
	{"None | int | str", "int | str | None", `{"anyOf":[{"type":"integer"},{"type":"string"},{"type":"null"}]}`},
	{"Union[int, str]", "int | str", `{"anyOf":[{"type":"integer"},{"type":"string"}]}`},
	{"Union[int, Optional[str], Union[bool, None]]", "Optional[int | str | bool]", `{"anyOf":[{"type":"integer"},` +
		`{"type":"string"},{"type":"boolean"},{"type":"null"}]}`},
	{"(int | str)", "int | str", `{"anyOf":[{"type":"integer"},{"type":"string"}]}`},
	{"list[int | None]", "", `{"type":"array","items":{"anyOf":[{"type":"integer"},{"type":"null"}]}}`},
	{"list[Optional[int]]", "list[int | None]", `{"type":"array","items":{"anyOf":[{"type":"integer"},{"type":"null"}]}}`},
	{"(int | None)(desc=\"n\")", "", `{"anyOf":[{"type":"integer"},{"type":"null"}],"description":"n"}`},
	{`Literal["a", 'b"\'']`, `Literal["a", "b\"'"]`, `{"type":"string","enum":["a","b\"'"]}`},
	{`Literal[1, 2]`, "", `{"type":"integer","enum":[1,2]}`},
	{`Literal[1.5, 2.5]`, "", `{"type":"number","enum":[1.5,2.5]}`},
	{`Literal[True, "x", None]`, `Literal[true, "x", null]`, `{"enum":[true,"x",null]}`},
	{`Literal["<a & b>"]`, "", `{"type":"string","enum":["<a & b>"]}`},
	{"float(le=1,ge=0)", "float(ge=0, le=1)", `{"type":"number","minimum":0,"maximum":1}`},
	{"int(gt=-1, lt=10, multiple_of=2)", "", `{"type":"integer","exclusiveMinimum":-1,"exclusiveMaximum":10,` +
		`"multipleOf":2}`},
	{`str(min_length=1, max_length=3, pattern="^[a-z]+$")`, "", `{"type":"string","minLength":1,"maxLength":3,` +
		`"pattern":"^[a-z]+$"}`},
	{`str(format="email", title="Mail", examples=["a@b.c"], desc='Where to.')`, `str(format="email", title="Mail", ` +
		`examples=["a@b.c"], desc="Where to.")`,
		`{"type":"string","format":"email","title":"Mail","examples":["a@b.c"],"description":"Where to."}`},
	{"list[str(min_length=1)](min_length=1, max_length=3)", "", `{"type":"array","items":{"type":"string",` +
		`"minLength":1},"minItems":1,"maxItems":3}`},
	{"set[int](max_length=3)", "", `{"type":"array","items":{"type":"integer"},"uniqueItems":true,"maxItems":3}`},
	{"dict[str, int](min_length=1)", "", `{"type":"object","additionalProperties":{"type":"integer"},"minProperties":1}`},
	{"{}", "", `{"type":"object","properties":{},"additionalProperties":false}`},
	{`{name: str, age?: int(ge=0), "customer-id"?, pet: Optional[str], n: int(default=1)}`,
		`{name: str, age?: int(ge=0), "customer-id"?: str, pet: Optional[str], n: int(default=1)}`,
		`{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0},` +
			`"customer-id":{"type":"string"},` +
			`"pet":{"anyOf":[{"type":"string"},{"type":"null"}]},"n":{"type":"integer","default":1}},"required":["name"],` +
			`"additionalProperties":false}`},
	{"list[{a: list[{b: str}]}]", "", `{"type":"array","items":{"type":"object","properties":{"a":{"type":"array",` +
		`"items":{"type":"object",` +
		`"properties":{"b":{"type":"string"}},"required":["b"],"additionalProperties":false}}},"required":["a"],` +
		`"additionalProperties":false}}`},
	{`schema({"const": "x"})`, `schema({"const":"x"})`, `{"const":"x"}`},
	{`schema({"type": "string", "format": "phone"})`, `schema({"type":"string","format":"phone"})`,
		`{"type":"string","format":"phone"}`},
	{`schema({"minLength":2,"type":"string"})`, `str(min_length=2)`, `{"minLength":2,"type":"string"}`},
	{`list[schema({"type": ["string", "null"]})]`, `list[schema({"type":["string","null"]})]`,
		`{"type":"array","items":{"type":["string","null"]}}`},
	{`schema({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}})`, `schema({"$ref":"#/$defs/a",` +
		`"$defs":{"a":{"type":"string"}}})`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}`},
}

func TestParseTypes(t *testing.T) {
	t.Parallel()
	for _, test := range types {
		t.Run(test.text, func(t *testing.T) {
			t.Parallel()
			if test.written == "" {
				test.written = test.text
			}
			spec := mustParse(t, "x: "+test.text+" -> y")
			f := spec.Inputs()[0]
			if got := string(f.Schema.Raw()); got != test.schema {
				t.Errorf("got schema  %s\nwant schema %s", got, test.schema)
			}
			if got, want := spec.String(), "x: "+test.written+" -> y: str"; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func mustParse(t *testing.T, text string) *signature.Spec {
	t.Helper()
	s, err := signature.Parse(text, "Do it.")
	if err != nil {
		t.Fatal(err)
	}
	return s.Spec()
}

// shown describes fields without their schemas.
func shown(s *signature.Spec) string {
	var all []string
	for _, f := range append(s.Inputs(), s.Outputs()...) {
		line := f.Name
		if !f.Required {
			line += "?"
		}
		all = append(all, strings.TrimSpace(line+" "+string(f.Kind())+" "+f.Description))
	}
	return strings.Join(all, ", ")
}

func TestParseFields(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, written, fields string }{
		{"question -> answer", "question: str -> answer: str", "question, answer"},
		{"->answer", "-> answer: str", "answer"},
		{" \n q :str,\tcontext? : list[str]\n->\nanswer:float ", "q: str, context?: list[str] -> answer: float",
			"q, context?, answer"},
		{"a?, b: Optional[int], c: int | None, d: int(default=3), e?: int(default=3), f?: int | None -> g",
			"a?: str, b: Optional[int], c: int | None, d: int(default=3), e: int(default=3), f: Optional[int] -> g: str",
			"a?, b?, c, d?, e?, f?, g"},
		{`x: any, y: Optional[any] -> z: Optional[int](default=None)`, `x: any, y?: any -> z: Optional[int](default=null)`,
			"x, y?, z?"},
		{`photo: dspy.Image, more: list[Image], doc: Optional[File], before?: dspy.History -> text: str(desc="What is ` +
			`seen.")`,
			`photo: Image, more: list[Image], doc: Optional[File], before?: History -> text: str(desc="What is seen.")`,
			"photo image, more image, doc? file, before? history, text  What is seen."},
		{`a: Image(desc="Front.") -> b?: list[str(desc="One.")](min_length=1, desc="All.")`,
			`a: Image(desc="Front.") -> b?: list[str(desc="One.")](min_length=1, desc="All.")`,
			"a image Front., b?  All."},
		{`a -> b?, c? with schema({"oneOf": [{"required": ["b"]}, {"required": ["c"]}]})`,
			`a: str -> b?: str, c?: str with schema({"oneOf":[{"required":["b"]},{"required":["c"]}]})`, "a, b?, c?"},
		{`with schema({"title": "Nothing."}) -> größe: float`, `with schema({"title":"Nothing."}) -> größe: float`,
			"größe"},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			t.Parallel()
			spec := mustParse(t, test.text)
			if got := spec.String(); got != test.written {
				t.Errorf("got  %s\nwant %s", got, test.written)
			}
			if got := shown(spec); got != test.fields {
				t.Errorf("got  %s\nwant %s", got, test.fields)
			}
			checkRoundTrip(t, spec)
		})
	}
}

// checkRoundTrip checks that a spec's text makes the same spec.
func checkRoundTrip(t *testing.T, spec *signature.Spec) {
	t.Helper()
	again, err := signature.Parse(spec.String(), spec.Instructions())
	if err != nil {
		t.Fatalf("%s does not parse: %v", spec, err)
	}
	if got, want := again.String(), spec.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := shown(again.Spec()), shown(spec); got != want {
		t.Errorf("%s: got %s, want %s", spec, got, want)
	}
	for i, both := range [][2][]byte{
		{again.Spec().InputSchema().Raw(), spec.InputSchema().Raw()}, {again.Spec().OutputSchema().Raw(),
			spec.OutputSchema().Raw()},
	} {
		if got, want := decoded(t, both[0]), decoded(t, both[1]); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: object %d\ngot  %s\nwant %s", spec, i, both[0], both[1])
		}
	}
}

// decoded decodes a schema, treating {} and true as equal.
func decoded(t *testing.T, raw []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return withoutEmpty(v)
}

func withoutEmpty(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return true
		}
		if required, ok := v["required"].([]any); ok && len(required) == 0 {
			delete(v, "required")
		}
		for name := range v {
			v[name] = withoutEmpty(v[name])
		}
	case []any:
		for i := range v {
			v[i] = withoutEmpty(v[i])
		}
	}
	return v
}

func TestStringOfGoTypes(t *testing.T) {
	t.Parallel()
	type inner struct {
		Name string `json:"name" jsonschema:"minLength=1"`
		Age  *int   `json:"age"`
	}
	type input struct {
		Text    string            `json:"text" jsonschema:"description=What is asked\\, exactly."`
		Tags    []string          `json:"tags" jsonschema:"minItems=1"`
		By      map[string]int    `json:"by,omitempty"`
		People  []inner           `json:"people"`
		When    time.Time         `json:"when"`
		For     time.Duration     `json:"pause,omitempty"`
		Three   [3]float64        `json:"three"`
		Bytes   []byte            `json:"bytes"`
		Huge    uint64            `json:"huge"`
		Any     any               `json:"any"`
		Photo   *signature.Image  `json:"photo"`
		Before  signature.History `json:"before,omitempty"`
		Nothing struct{}          `json:"nothing"`
	}
	type output struct {
		Mood  string  `json:"mood" jsonschema:"enum=good,enum=bad"`
		Score float64 `json:"score" jsonschema:"minimum=0,maximum=1,default=0.5"`
		Email string  `json:"email,omitempty" jsonschema:"format=email,oneof_required=email"`
		Phone *string `json:"phone" jsonschema:"oneof_required=phone,description=Or this."`
	}
	spec := signature.Must(signature.New[input, output]("Do it.")).Spec()
	const want = `text: str(desc="What is asked, exactly."), tags: list[str](min_length=1), by?: dict[str, int], ` +
		`people: list[{name: str(min_length=1), age: Optional[int]}], when: datetime, pause?: schema({"type":"integer",` +
		`"format":"nanoseconds"}), ` +
		`three: list[float](min_length=3, max_length=3), bytes: bytes, huge: int(ge=0), any: any, photo: ` +
		`Optional[Image], before?: History, nothing: {} -> ` +
		`mood: Literal["good", "bad"], score: float(ge=0, le=1, default=0.5), email?: str(format="email"), phone: ` +
		`Optional[str](desc="Or this.") ` +
		`with schema({"oneOf":[{"required":["email"],"title":"email"},{"required":["phone"],"title":"phone"}]})`
	if got := spec.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	checkRoundTrip(t, spec)
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("schema({})|", 499) + "schema({})"
	tests := []struct{ text, want string }{
		{"", `column 1: expected "->", found the end; write input -> output`},
		{"question", `column 9: expected "->", found the end; write input -> output`},
		{"a => b", `column 3: expected "->", found "="; write input -> output`},
		{"a -> b -> c", `column 8: expected the end, found "-"; write only one ->, and commas between fields`},
		{"a b -> c", `column 3: expected "->", found "b"; write input -> output`},
		{"a ->", `no output field; add one`},
		{"a, -> b", `column 4: expected a field after the comma; add one, or remove the comma`},
		{"a -> b,", `column 8: expected a field after the comma; add one, or remove the comma`},
		{"a,, b -> c", `column 3: expected a field, found ","; write name: type`},
		{"__proto__ -> b", `column 1: field "__proto__": the name has a special meaning in JavaScript; choose another`},
		{"a: tuple[int, str, ...] -> b", `column 4: three dots can only follow the single type of a tuple; write ` +
			`tuple[int, ...], or list[int | str]`},
		{"a: Union[int, ...] -> b", `column 4: three dots can only follow the single type of a tuple; write tuple[int, ` +
			`...], or list[int | str]`},
		{"a: " + strings.Repeat("int|", 500) + "int -> b", `column 2004: there are more than 500 alternatives; use ` +
			`a type that admits all of them`},
		{"a: " + many + ", b: " + many + ", c: " + many + " -> d", `column 11019: there are more than 1000 schemas; use ` +
			`type names`},
		{`a: schema({"properties": {"a": {"type": "string", "type": "integer"}}}) -> b`, `column 11: the schema cannot ` +
			`be used: schema: properties.a.type is given twice`},
		{"class -> b", `column 1: field "class": the name is reserved in JavaScript; choose another`},
		{"1a -> b", `column 1: field "1a": the name is not a JavaScript identifier; use letters, digits and _`},
		{"a -> a", `output field "a": an input field has the same name; rename one`},
		{"a: -> b", `column 4: expected a type, found "-"; write str, int, float, bool, list[str], …`},
		{"a: flaot -> b", `column 4: unknown type "flaot"; did you mean float?`},
		{"a: float64 -> b", `column 4: unknown type "float64"; write float`},
		{"a: Customer -> b", `column 4: unknown type "Customer"; use one of File, History, Image, Literal, None, ` +
			`Optional, Union, any, bool, bytes, date, datetime, dict, float, int, list, set, str, time, tuple, or {name: ` +
			`type} for an object`},
		{"a: string[] -> b", `column 10: write a list as list[str]`},
		{"a: str[int] -> b", `column 7: the type str takes no brackets; remove them`},
		{"a: dspy.Tool -> b", `column 4: the DSPy type Tool is not supported; use Image, File or History`},
		{"a: dspy.Code -> b", `column 4: the DSPy type Code is not supported; use Image, File or History`},
		{"a: timedelta -> b", `column 4: unknown type "timedelta"; write float(desc="seconds"), or schema({"type": ` +
			`"integer", "format": "nanoseconds"}), which is a time.Duration`},
		{"a: list[str][] -> b", `column 13: write a list as list[str]`},
		{"a: []string -> b", `column 4: write a list as list[str]`},
		{"a: \"x\" -> b", `column 4: write a constant as a type: Literal["a", "b"]`},
		{"a: Optional -> b", `column 4: the type Optional needs brackets; write Optional[str]`},
		{"a: list[str, int] -> b", `column 4: the type list takes one type; write list[str]`},
		{"a: dict[str] -> b", `column 4: the type dict takes two types; write dict[str, float]`},
		{"a: dict[int, str] -> b", `column 4: names in JSON are strings; write dict[str, …]`},
		{"a: list[str -> b", `column 13: expected "]", found "-"; separate types with commas and close the bracket`},
		{"a: Literal[] -> b", `column 12: expected a value, found "]"; write it as JSON, such as "text", 1.5, true or ` +
			`[1, 2]`},
		{"a: Literal[x] -> b", `column 12: expected a value, found "x"; write it as JSON, such as "text", 1.5, true or ` +
			`[1, 2]`},
		{"a: Literal[[1]] -> b", `column 12: a constant must be a string, a number, True, False or None`},
		{`a: Literal["x", 'x'] -> b`, `column 17: the constant "x" is repeated; remove one`},
		{"a: Literal['x -> b", `column 12: the string in single quotes is not closed, or has an escape that JSON ` +
			`does not have; write it in double quotes, as in JSON`},
		{"a: {b: str, b: int} -> c", `column 19: the member "b" is repeated; rename one`},
		{"a: {b str} -> c", `column 7: expected ",", found "str"; separate members with commas and close the brace`},
		{"a: {,} -> c", `column 5: expected a member, found ","; write name: type`},
		{"a: int = 20 -> b", `column 8: write a default as a rule of the type: int(default=20)`},
		{"a: str = 'x' -> b", `column 8: write a default as a rule of the type: str(default='x')`},
		{"a = 2.5 -> b", `column 3: write a default as a rule of the type: a: float(default=2.5)`},
		{"a = [1] -> b", `column 3: write a default as a rule in parentheses after the type, as in int(ge=0, default=20)`},
		{"a: int(ge=1) = 2 -> b", `column 14: write a default as a rule in parentheses after the type, as in int(ge=0, ` +
			`default=20)`},
		{"a: Optional[str] = None -> b", `column 18: an optional field needs no default; remove = None`},
		{"a: str | None = None -> b", `column 15: mark an optional field with a ? after its name; write a?: str | None`},
		{"a = None -> b", `column 3: mark an optional field with a ? after its name; write a?`},
		{"a: int = -> b", `column 10: expected a value, found "-"; write it as JSON, such as "text", 1.5, true or [1, 2]`},
		{`a: int "how many" -> b`, `column 8: write a description as a rule of the type: str(desc="…")`},
		{"a: int? -> b", `column 7: put the ? after the name; write name?: type`},
		{"a: int() -> b", `column 8: expected a rule, found ")"; write name=value, such as desc="…"`},
		{"a: int(minimum=1) -> b", `column 8: unknown rule "minimum"; did you mean ge?`},
		{"a: int(ge=1, ge=2) -> b", `column 14: the rule ge is repeated; remove one`},
		{"a: int(ge='1') -> b", `column 11: the rule ge takes a number, not "1"`},
		{"a: str(min_length=1.5) -> b", `column 19: the rule min_length takes an integer of at least 0, not 1.5`},
		{"a: str(ge=1) -> b", `column 8: the rule "ge" does not apply to str; use one of min_length, max_length, ` +
			`pattern, format, title, default, examples, desc`},
		{`a: str(format="dat") -> b`, `column 15: unknown format "dat"; did you mean date?`},
		{`a: str(max_length=1, examples=["a", "bc"]) -> b`, `column 31: the example "bc" does not fit: the value must ` +
			`have at most 1 character, not 2`},
		{`a: int(examples=["one"]) -> b`, `column 17: the example "one" does not fit: the value must be an integer, not ` +
			`"one"`},
		{"a: Optional[int](ge=1) -> b", `column 18: the rule ge does not apply to a union; put it after the type to ` +
			`which it applies, as in int(ge=0) | None`},
		{"a: int(ge 1) -> b", `column 11: expected "=", found "1"; write ge=…`},
		{"a: int(ge=1 -> b", `column 13: expected ")", found "-"; separate rules with commas and close the parenthesis`},
		{"a: schema(1) -> b", `column 11: a schema must be an object, true or false`},
		{`a: schema({"type": "int"}) -> b`, `column 11: the schema cannot be used: schema: type must be one of "array", ` +
			`"boolean", "integer", "null", "number", "object", "string", not "int"`},
		{`a: schema({})(desc="x") -> b`, `column 15: a schema takes no rules; put them into schema({…})`},
		{`a: str(pattern="(") -> b`, `input field "a": schema: pattern must be of format regex, not "("`},
		{`a: int(default="x") -> b`, `input field "a": the default must be an integer, not "x"`},
		{`a -> b: Image`, `output field "b": images, files and histories can only be inputs; use a type that a ` +
			`model can write`},
		{`a -> b with x`, `column 13: expected a schema after with; write with schema({…}) after the last field`},
		{`a -> b with schema([])`, `column 20: the schema after with is not an object with keywords; write with ` +
			`schema({…}) after the last field`},
		{`a -> b with schema({"required": []})`, `column 20: the schema after with must not describe the fields; ` +
			`remove [type ` +
			`properties required]`},
		{"größe,\na: in -> b", `line 2, column 4: unknown type "in"; did you mean int?`},
		{"\xff -> b", `the string is not valid UTF-8`},
		{"a: " + strings.Repeat("list[", 60) + " -> b", `column 254: types are nested deeper than 50; simplify them`},
		{strings.Repeat("a,", 500) + "a -> b", `column 1001: there are more than 500 fields; put them into an object`},
		{"a -> b" + strings.Repeat(" ", 64<<10), `the string has 65542 bytes; the limit is 65536`},
	}
	for _, test := range tests {
		t.Run(test.text[:min(len(test.text), 40)], func(t *testing.T) {
			t.Parallel()
			s, err := signature.Parse(test.text, "Do it.")
			checkError(t, err, "signature: "+test.want)
			if s != nil {
				t.Error("there is a signature with the error")
			}
		})
	}
}

func TestParsedSignature(t *testing.T) {
	t.Parallel()
	s := signature.Must(signature.Parse(`question: str(min_length=1), limit: int(default=3) -> answer: str, sure: `+
		`float(ge=0, le=1, default=1)`, "Answer."))
	in, err := s.Encode(signature.Values{{Name: "question", JSON: []byte(`"a < b?"`)}})
	if err != nil || !reflect.DeepEqual(in, signature.Values{{Name: "question", JSON: []byte(`"a < b?"`)},
		{Name: "limit", JSON: []byte(
			`3`)}}) {
		t.Errorf("got %s, %v", in, err)
	}
	out, err := s.Decode([]byte(`{"sure": 0.5, "answer": "Yes."}`))
	if err != nil || !reflect.DeepEqual(out, signature.Values{{Name: "answer", JSON: []byte(`"Yes."`)}, {Name: "sure",
		JSON: []byte(
			`0.5`)}}) {
		t.Errorf("got %s, %v", out, err)
	}
	_, err = s.Decode([]byte(`{"sure": 2, "anser": "Yes."}`))
	checkError(t, err, "answer is required\nsure must be at most 1, not 2\nanser is not a known property (did you "+
		"mean answer?)")
	_, err = s.Encode(signature.Values{{Name: "limit"}, {Name: "limit"}, {Name: "query"}})
	checkError(t, err, "signature: input: question is required\nlimit is given twice\nlimit must be an integer, not "+
		"null\nquery is not a known property (other properties: question)")
	if invalid := (*signature.InvalidError)(nil); !errors.As(err, &invalid) {
		t.Errorf("%T is not an InvalidError", err)
	}
}

func TestParseField(t *testing.T) {
	t.Parallel()
	f, err := signature.ParseField(`sure?: float(ge=0, desc="How sure.")`)
	if err != nil || f.Name != "sure" || f.Required || f.Description != "How sure." ||
		f.String() != `sure?: float(ge=0, desc="How sure.")` {
		t.Errorf("got %v, %v", f, err)
	}
	_, err = signature.ParseField("a, b")
	checkError(t, err, `signature: column 2: expected the end, found ","; write one field`)
	described := mustCompile(t, `{"type":"string","description":"old"}`)
	bytes := mustCompile(t, "{\"type\":\"string\",\"title\":\"\xff\"}")
	for want, f := range map[string]signature.Field{
		"a?: any":                   {Name: "a"},
		`a?: any(desc="what")`:      {Name: "a", Description: "what"},
		`a: str(desc="new")`:        {Name: "a", Description: "new", Schema: described, Required: true},
		"a?: str(title=\"\ufffd\")": {Name: "a", Schema: bytes},
	} {
		if got := f.String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if again, err := signature.ParseField(want); err != nil || again.String() != want {
			t.Errorf("got %v, %v", again, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, test := range types {
		f.Add("x: " + test.text + " -> y")
	}
	f.Add(`a?, b: Optional[int](desc="x"), c: int(default=3) -> d: {"e": str, f?: list[Image]} with ` +
		`schema({"minProperties": 1})`)
	f.Add("größe: Literal[1, 'x', None] -> b: (int | str)(title=\"t\")")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := signature.Parse(text, "")
		if err != nil {
			return
		}
		if written := s.String(); len(written) < 64<<10 {
			checkRoundTrip(t, s.Spec())
		}
	})
}
