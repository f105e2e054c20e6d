package signature_test

import (
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"

	"github.com/writ-go/writ/signature"
)

type counted struct {
	N    int               `json:"n"`
	All  []*int8           `json:"all"`
	By   map[string]uint   `json:"by"`
	Big  big.Int           `json:"big"`
	Real float64           `json:"real"`
	Any  any               `json:"any"`
	Raw  json.RawMessage   `json:"raw"`
	Deep struct{ M int64 } `json:"deep"`
}

const countedJSON = `{"n":N,"all":[1,2.0],"by":{"a":3e1},"big":1.5e30,"real":3.0,"any":1.0,"raw":[1e2],` +
	`"deep":{"M":9007199254740993.0}}`

// JSON Schema does not distinguish 3 and 3.0, and models write both.
func TestWholeNumbersAreIntegers(t *testing.T) {
	t.Parallel()
	s := signature.Must(signature.New[none, counted]("Count."))
	want := counted{N: -100, All: []*int8{some(int8(1)), some(int8(2))}, By: map[string]uint{"a": 30}, Real: 3,
		Any: json.Number(
			"1.0"), Raw: json.RawMessage(`[1e2]`)}
	want.Big.SetString("1500000000000000000000000000000", 10)
	want.Deep.M = 1<<53 + 1
	got, err := s.Decode([]byte(strings.Replace(countedJSON, `"n":N`, `"n":-1.00e2`, 1)))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
	for number, want := range map[string]string{
		"1.5":   "n must be an integer, not 1.5",
		"1e40":  "n must be from -9223372036854775808 to 9223372036854775807, not 10000000000000000000000000000000000000000",
		`"3.0"`: `n must be an integer, not "3.0"`,
	} {
		got, err := s.Decode([]byte(strings.Replace(countedJSON, `"n":N`, `"n":`+number, 1)))
		checkError(t, err, want)
		if !reflect.DeepEqual(got, counted{}) {
			t.Errorf("got %+v with the error", got)
		}
	}
	_, err = s.Decode([]byte(strings.Replace(countedJSON, `N,"all":[1,2.0],"by":{"a":3e1},"big":1.5e30`,
		`1,"all":[],"by":{},"big":null`, 1)))
	checkError(t, err, "big must be an integer, not null")
}

type tag struct {
	Mood string `json:"mood"`
	Note string `json:"note,omitempty"`
}

// JSONSchemaExtend opens the struct.
func (*tag) JSONSchemaExtend(s *jsonschema.Schema) { s.AdditionalProperties = nil }

// encoding/json ignores the case of names, so that an unchecked value could replace a
// checked one.
func TestCaseOfNames(t *testing.T) {
	t.Parallel()
	type moody struct {
		Mood string `json:"mood"`
	}
	open, err := signature.Parse(`-> mood: Literal["good", "bad"] with schema({"additionalProperties": true})`, "")
	if err != nil {
		t.Fatal(err)
	}
	typed := signature.Must(signature.Typed[none, moody](open.Spec()))
	_, err = typed.Decode([]byte(`{"mood": "good", "MOOD": "evil"}`))
	checkError(t, err, "MOOD is not a known property (did you mean mood?)")
	if got, err := typed.Decode([]byte(`{"more": {"Mood": 1}, "mood": "good"}`)); err != nil || got.Mood != "good" {
		t.Errorf("got %+v, %v", got, err)
	}
	nested := signature.Must(signature.New[none, struct {
		Tags []tag          `json:"tags"`
		By   map[string]tag `json:"by"`
	}]("Tag."))
	_, err = nested.Decode([]byte(`{"tags": [{"mood": "a", "x": 1}, {"mood": "a", "NOTE": "b"}], "by": {"Mood": ` +
		`{"mood": "a", "\u006dOOD": "b"}}}`))
	checkError(t, err, "tags[1].NOTE is not a known property (did you mean note?)\nby.Mood.mOOD is not a known "+
		"property (did you mean mood?)")
}

func TestHalfCharacters(t *testing.T) {
	t.Parallel()
	s := signature.Must(signature.New[none, struct {
		A string
		B any
	}]("Write."))
	tests := []struct{ output, want string }{
		{`{"A": "\ud83d\ude00 \\ud800 \u00e9", "B": 1}`, ``},
		{`{"A": "x", "B": [{"a": "\ud83d"}]}`, `B has half of a character, \ud83d (write the character itself)`},
		{`{"A": "\uDE00\uD83D", "B": 1}`, `A has half of a character, \uDE00 (write the character itself)`},
		{`{"A": "\\\ud83d\\ude00", "B": 1}`, `A has half of a character, \ud83d (write the character itself)`},
		{"{\"A\": \"\xff\", \"B\": 1}", `A has bytes that are not UTF-8 (write the character itself)`},
	}
	for _, test := range tests {
		_, err := s.Decode([]byte(test.output))
		if test.want != "" {
			checkError(t, err, test.want)
		} else if err != nil {
			t.Error(err)
		}
	}
}

// furious panics in every method.
type furious struct{}

func (furious) MarshalJSON() ([]byte, error)    { panic("no") }
func (*furious) UnmarshalJSON(raw []byte) error { panic("never") }

func TestMethodsThatPanic(t *testing.T) {
	t.Parallel()
	type in struct{ A furious }
	type out struct{ B furious }
	s := signature.Must(signature.New[in, out]("Try."))
	_, err := s.Encode(in{})
	checkError(t, err, `signature: input field "A" does not encode: panic: no`)
	_, err = s.Decode([]byte(`{"B": 1}`))
	checkError(t, err, "B does not decode: panic: never")
}

// FuzzNumbers checks that a value means the same however its numbers are written.
func FuzzNumbers(f *testing.F) {
	s := signature.Must(signature.New[none, counted]("Count."))
	f.Add(strings.Replace(countedJSON, `"n":N`, `"n":1`, 1))
	f.Add(strings.Replace(countedJSON, `"n":N`, `"n":-1.00e2`, 1))
	f.Fuzz(func(t *testing.T, output string) {
		got, err := s.Decode([]byte(output))
		if err != nil {
			return
		}
		written, err := json.Marshal(&got)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := s.Decode(written); err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%s: got %+v, %v, want %+v", output, again, err, got)
		}
	})
}
